import assignorlab.wire.Json;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import javax.management.Attribute;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;
import org.apache.kafka.streams.KafkaStreams;

/**
 * The application of OrdersApplication, which writes what JMX tells of its decisions to the file "jmx" as soon as that
 * changes, and has as many threads as the file "threads" says: both in the folder of the first argument.
 */
public final class ShimApplication {
    private ShimApplication() {
    }

    public static void main(final String[] arguments) throws Exception {
        final Path folder = Path.of(arguments[0]);
        Files.createDirectories(folder);
        final Properties config = OrdersApplication.defaults();
        for (int index = 1; index < arguments.length; index++) {
            final int equals = arguments[index].indexOf('=');
            config.put(arguments[index].substring(0, equals), arguments[index].substring(equals + 1));
        }
        final KafkaStreams streams = OrdersApplication.instance(config);
        streams.start();
        String last = "";
        while (true) {
            final String now = Json.write(told(streams));
            if (!now.equals(last)) {
                write(folder, now);
                last = now;
            }
            adjust(streams, folder.resolve("threads"));
            Thread.sleep(50);
        }
    }

    private static void adjust(final KafkaStreams streams, final Path file) throws IOException {
        if (streams.state() != KafkaStreams.State.RUNNING || !Files.exists(file)) {
            return;
        }
        final int wanted = Integer.parseInt(Files.readString(file).trim());
        final int threads = streams.metadataForLocalThreads().size();
        if (threads < wanted) {
            streams.addStreamThread();
        } else if (threads > wanted) {
            streams.removeStreamThread();
        }
    }

    static Map<String, Object> told(final KafkaStreams streams) throws Exception {
        final Map<String, Object> told = decisions("*");
        told.put("state", streams.state().name());
        told.put("threads", streams.metadataForLocalThreads().size());
        return told;
    }

    /** What JMX tells of the decisions of an application, quoted, or of the only one: an asterisk. */
    static Map<String, Object> decisions(final String application) throws Exception {
        final Map<String, Object> told = new LinkedHashMap<>();
        final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        for (final ObjectName name : server.queryNames(new ObjectName("assignorlab:type=Decisions,application=" + application), null)) {
            final String[] names = java.util.Arrays.stream(server.getMBeanInfo(name).getAttributes())
                .map(each -> each.getName()).toArray(String[]::new);
            for (final Attribute each : server.getAttributes(name, names).asList()) {
                told.put(each.getName(), plain(each.getValue()));
            }
        }
        return told;
    }

    private static Object plain(final Object value) {
        if (!(value instanceof TabularData)) {
            return value;
        }
        final Map<String, Object> map = new LinkedHashMap<>();
        for (final Object row : ((TabularData) value).values()) {
            map.put((String) ((CompositeData) row).get("key"), ((CompositeData) row).get("value"));
        }
        return map;
    }

    private static void write(final Path folder, final String text) throws IOException {
        final Path part = folder.resolve("jmx.part");
        Files.writeString(part, text);
        Files.move(part, folder.resolve("jmx"), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
