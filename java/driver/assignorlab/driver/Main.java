package assignorlab.driver;

import assignorlab.wire.Frames;
import assignorlab.wire.Json;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.FileOutputStream;
import java.io.FileDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Lets one Java assignor answer: {@code java -cp driver.jar:KAFKA assignorlab.driver.Main CLASS [JAR...]}. It says what
 * it has found, then answers questions, frame by frame, until the standard input ends.
 *
 * <p>Kafka is on the class path of the JVM, the assignor's jars are behind a loader of their own. No class of Kafka is
 * named here, so that a class path without one can be told.
 */
public final class Main {
    private static final String BROKERS = "org.apache.kafka.coordinator.group.api.assignor.";
    /** Each interface, the kind of its assignors, and our class that asks them. */
    private static final String[][] INTERFACES = {
        {"org.apache.kafka.streams.processor.assignment.TaskAssignor", "task-assignor", "Assignor"},
        {"org.apache.kafka.clients.consumer.ConsumerPartitionAssignor", "consumer-assignor", "ConsumerAssignor"},
        {BROKERS + "ConsumerGroupPartitionAssignor", "consumer-group-assignor", "GroupAssignor"},
        {BROKERS + "ShareGroupPartitionAssignor", "share-group-assignor", "GroupAssignor"},
    };
    private static final int MOST_BYTES = 1 << 30;
    /** Made while there still is memory. */
    private static final String OUT_OF_MEMORY = "{\"loss\":\"memory\"}";

    private Main() {}

    /** What is asked of an assignor that was found; in between stands Kafka. */
    interface Asked {
        Map<String, Object> answer(Map<String, Object> question) throws Exception;

        boolean observes();
    }

    public static void main(String[] arguments) throws Exception {
        OutputStream out = new FileOutputStream(FileDescriptor.out);
        InputStream in = new BufferedInputStream(System.in, 1 << 16);
        // What an assignor prints is a message, and nothing is there for it to read.
        System.setOut(System.err);
        System.setIn(new ByteArrayInputStream(new byte[0]));
        silenceLogging();
        Map<String, Object> hello = new LinkedHashMap<>();
        Asked asked = found(arguments, hello);
        Frames.write(out, Json.write(hello));
        if (asked == null) {
            Runtime.getRuntime().halt(0);
        }
        try {
            serve(asked, in, out);
        } catch (IOException error) {
            // Who asks has gone.
        }
        Runtime.getRuntime().halt(0);
    }

    @SuppressWarnings("unchecked")
    private static void serve(Asked asked, InputStream in, OutputStream out) throws IOException, Json.FormatException {
        for (String text = Frames.read(in, MOST_BYTES); text != null; text = Frames.read(in, MOST_BYTES)) {
            String answer;
            try {
                answer = Json.write(answered(asked, (Map<String, Object>) Json.read(text)));
            } catch (OutOfMemoryError error) {
                answer = OUT_OF_MEMORY;
            }
            // What is printed in a call counts in that call.
            System.err.flush();
            Frames.write(out, answer);
        }
    }

    private static Map<String, Object> answered(Asked asked, Map<String, Object> question) {
        try {
            return asked.answer(question);
        } catch (OutOfMemoryError error) {
            throw error;
        } catch (Throwable error) {
            return Map.of("raised", Raised.document(error));
        }
    }

    /** The assignor, or null, and then {@code hello} says why there is none. */
    private static Asked found(String[] arguments, Map<String, Object> hello) throws IOException {
        hello.put("java", System.getProperty("java.version"));
        hello.put("kafka", kafkaVersion());
        ClassLoader own = Main.class.getClassLoader();
        try {
            ClassLoader loader = new AssignorLoader(urls(arguments), own);
            Thread.currentThread().setContextClassLoader(loader);
            if (!hasInterface(own)) {
                problem(hello, "kafka", INTERFACES[0][0]);
                return null;
            }
            Class<?> assignor = named(arguments[0], loader, hello);
            String asks = assignor == null ? null : fits(assignor, own, hello);
            if (asks == null) {
                return null;
            }
            Asked asked = (Asked) Class.forName("assignorlab.driver." + asks, true, own)
                .getDeclaredConstructor(Class.class).newInstance(assignor);
            hello.put("observes", asked.observes());
            return asked;
        } catch (LinkageError error) {
            problem(hello, "linkage", error.toString());
        } catch (ReflectiveOperationException error) {
            problem(hello, "linkage", String.valueOf(error.getCause() == null ? error : error.getCause()));
        }
        return null;
    }

    private static Class<?> named(String name, ClassLoader loader, Map<String, Object> hello) {
        try {
            Class<?> found = Class.forName(name, false, loader);
            // Its whole signature is resolved, so that what it needs and lacks is told now.
            found.getMethods();
            found.getDeclaredConstructors();
            return found;
        } catch (ClassNotFoundException error) {
            problem(hello, "class", name);
        } catch (UnsupportedClassVersionError error) {
            problem(hello, "version", String.valueOf(error.getMessage()));
        } catch (NoClassDefFoundError error) {
            String lacked = String.valueOf(error.getMessage()).replace('/', '.');
            // A name of other letters than the file's ends so, too.
            if (lacked.contains("wrong name")) {
                problem(hello, "class", name);
            } else {
                problem(hello, isInterface(lacked) ? "kafka" : "missing", lacked);
            }
        } catch (LinkageError | SecurityException error) {
            // The latter: a signed jar is not what was signed.
            problem(hello, "linkage", error.toString());
        }
        return null;
    }

    /** Our class that asks it, or null, and then {@code hello} says why there is none. */
    private static String fits(Class<?> assignor, ClassLoader own, Map<String, Object> hello) {
        List<Object> kinds = new ArrayList<>();
        String asks = null;
        for (String[] each : INTERFACES) {
            if (isA(assignor, each[0], own)) {
                kinds.add(each[1]);
                asks = asks == null ? each[2] : asks;
            }
        }
        if (asks == null) {
            List<String> implemented = new ArrayList<>();
            for (Class<?> each = assignor; each != null; each = each.getSuperclass()) {
                for (Class<?> one : each.getInterfaces()) {
                    implemented.add(one.getName());
                }
            }
            problem(hello, "type", String.join(", ", implemented));
            return null;
        }
        hello.put("kinds", kinds);
        int modifiers = assignor.getModifiers();
        if (assignor.isInterface() || java.lang.reflect.Modifier.isAbstract(modifiers)) {
            problem(hello, "abstract", "");
            return null;
        }
        try {
            // As Kafka makes it (Utils.newInstance): any constructor without arguments.
            assignor.getDeclaredConstructor();
            return asks;
        } catch (NoSuchMethodException error) {
            problem(hello, "constructor", "");
            return null;
        }
    }

    private static boolean isA(Class<?> assignor, String name, ClassLoader own) {
        try {
            return Class.forName(name, false, own).isAssignableFrom(assignor);
        } catch (ClassNotFoundException error) {
            return false;
        }
    }

    private static boolean hasInterface(ClassLoader own) {
        for (String[] each : INTERFACES) {
            if (own.getResource(each[0].replace('.', '/') + ".class") != null) {
                return true;
            }
        }
        return false;
    }

    private static boolean isInterface(String name) {
        for (String[] each : INTERFACES) {
            if (each[0].equals(name)) {
                return true;
            }
        }
        return name.startsWith(BROKERS);
    }

    private static void problem(Map<String, Object> hello, String kind, String detail) {
        hello.put("problem", kind);
        hello.put("detail", detail);
    }

    private static URL[] urls(String[] arguments) throws IOException {
        URL[] found = new URL[arguments.length - 1];
        for (int index = 0; index < found.length; index++) {
            found[index] = Path.of(arguments[index + 1]).toUri().toURL();
        }
        return found;
    }

    private static String kafkaVersion() throws IOException {
        java.util.Properties properties = new java.util.Properties();
        try (InputStream in = Main.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            if (in != null) {
                properties.load(in);
            }
        }
        return properties.getProperty("version");
    }

    /** Without a back end slf4j complains on the standard error as soon as it is asked for: that tells nobody anything. */
    private static void silenceLogging() {
        PrintStream given = System.err;
        System.setErr(new PrintStream(OutputStream.nullOutputStream()));
        try {
            Class.forName("org.slf4j.LoggerFactory").getMethod("getILoggerFactory").invoke(null);
        } catch (ReflectiveOperationException | LinkageError error) {
            // There is none: nothing complains.
        } finally {
            System.setErr(given);
            System.setOut(given);
        }
    }
}
