import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;

/**
 * Reduces the topic "work" into a store on disk and passes "notes" on; both keep their partitions.
 * Under live.topology=stateless only "notes" is passed on, and under live.topology=join "work" is joined with the table
 * "names".
 * With live.close=LEAVE_GROUP it leaves the group when it ends.
 * The first argument is a file for the states of the instance, the others are key=value settings.
 * Without arguments, lines of the standard input start and close any number of instances: "start FILE key=value ..."
 * and "close FILE".
 */
public final class AccuracyApplication {
    private AccuracyApplication() {
    }

    public static void main(final String[] arguments) throws Exception {
        if (arguments.length > 0) {
            final KafkaStreams streams = instance(arguments);
            final CountDownLatch stopped = new CountDownLatch(1);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                close(streams, arguments);
                stopped.countDown();
            }));
            streams.start();
            stopped.await();
        }
        final Map<String, KafkaStreams> instances = new HashMap<>();
        final BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            final String[] words = line.split(" ");
            if (words[0].equals("start")) {
                final KafkaStreams made = instance(Arrays.copyOfRange(words, 1, words.length));
                instances.put(words[1], made);
                made.start();
            } else {
                new Thread(instances.remove(words[1])::close).start();
            }
        }
    }

    private static void close(final KafkaStreams streams, final String[] arguments) {
        if (Arrays.asList(arguments).contains("live.close=LEAVE_GROUP")) {
            streams.close(CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP));
        } else {
            streams.close();
        }
    }

    private static KafkaStreams instance(final String[] arguments) {
        final Path states = Path.of(arguments[0]);
        final Properties config = new Properties();
        config.put("default.key.serde", Serdes.StringSerde.class.getName());
        config.put("default.value.serde", Serdes.StringSerde.class.getName());
        for (int place = 1; place < arguments.length; place++) {
            final int equals = arguments[place].indexOf('=');
            config.put(arguments[place].substring(0, equals), arguments[place].substring(equals + 1));
        }
        final String topology = config.getProperty("live.topology", "");
        final StreamsBuilder builder = new StreamsBuilder();
        if (topology.equals("join")) {
            final KTable<String, String> names = builder.table("names", Materialized.as("named"));
            builder.<String, String>stream("work").leftJoin(names, (value, name) -> value).to("work-out", samePartition());
        } else if (!topology.equals("stateless")) {
            builder.<String, String>stream("work").groupByKey()
                .reduce((before, value) -> value, Materialized.as("totals"))
                .toStream()
                .to("work-out", samePartition());
        }
        if (!topology.equals("join")) {
            builder.<String, String>stream("notes").to("notes-out", samePartition());
        }
        final KafkaStreams streams = new KafkaStreams(builder.build(), config);
        streams.setStateListener((now, before) -> write(states, now));
        return streams;
    }

    private static Produced<String, String> samePartition() {
        return Produced.with(null, null,
            (topic, key, value, partitions) -> java.util.Optional.of(java.util.Set.of(Integer.parseInt(key))));
    }

    private static void write(final Path states, final KafkaStreams.State state) {
        try {
            Files.writeString(states, System.currentTimeMillis() + " " + state + "\n",
                StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (final java.io.IOException error) {
            throw new java.io.UncheckedIOException(error);
        }
    }
}
