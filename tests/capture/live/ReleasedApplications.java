import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;

/**
 * Instances of applications in one process, by commands on the standard input, each answered by its own text:
 * "start NAME PREFIX STORE key=value ..." and "close NAME".
 * Records of the topic PREFIX-work go to PREFIX-out and keep their partition; STORE is "disk", or "none" for no state.
 */
public final class ReleasedApplications {
    private ReleasedApplications() {
    }

    public static void main(final String[] arguments) throws Exception {
        final Map<String, KafkaStreams> instances = new HashMap<>();
        final BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            final String[] words = line.split(" ");
            if (words[0].equals("start")) {
                final KafkaStreams made = new KafkaStreams(topology(words[2], words[3]), settings(words));
                final String name = words[1];
                made.setStateListener((now, before) -> say("state " + name + " " + now));
                made.start();
                instances.put(name, made);
            } else {
                instances.remove(words[1]).close();
            }
            say("done " + words[0] + " " + words[1]);
        }
    }

    private static synchronized void say(final String line) {
        System.out.println(line);
    }

    private static Properties settings(final String[] words) {
        final Properties settings = new Properties();
        settings.put("default.key.serde", Serdes.StringSerde.class.getName());
        settings.put("default.value.serde", Serdes.StringSerde.class.getName());
        for (int place = 4; place < words.length; place++) {
            final int equals = words[place].indexOf('=');
            settings.put(words[place].substring(0, equals), words[place].substring(equals + 1));
        }
        return settings;
    }

    private static Topology topology(final String prefix, final String store) {
        final StreamsBuilder builder = new StreamsBuilder();
        final var records = builder.<String, String>stream(prefix + "-work");
        final var kept = store.equals("none") ? records
            : records.groupByKey().reduce((before, value) -> value, Materialized.as("totals")).toStream();
        kept.to(prefix + "-out", Produced.with(null, null,
            (topic, key, value, partitions) -> Optional.of(Set.of(Integer.parseInt(key)))));
        return builder.build();
    }
}
