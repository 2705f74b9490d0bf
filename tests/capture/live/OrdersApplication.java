import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.state.Stores;

/**
 * Counts the values of the topic "in": one stateless sub-topology and one with a store.
 * Arguments are key=value settings; "--" begins those of a further instance in the same process.
 */
public final class OrdersApplication {
    private OrdersApplication() {
    }

    public static void main(final String[] settings) throws InterruptedException {
        final List<KafkaStreams> instances = new ArrayList<>();
        Properties config = defaults();
        for (final String setting : settings) {
            if (setting.equals("--")) {
                instances.add(instance(config));
                config = defaults();
                continue;
            }
            final int equals = setting.indexOf('=');
            config.put(setting.substring(0, equals), setting.substring(equals + 1));
        }
        instances.add(instance(config));
        run(instances);
    }

    /** Runs the instances until the process is asked to end. */
    static void run(final List<KafkaStreams> instances) throws InterruptedException {
        final CountDownLatch stopped = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            instances.forEach(KafkaStreams::close);
            stopped.countDown();
        }));
        instances.forEach(KafkaStreams::start);
        stopped.await();
    }

    static Properties defaults() {
        final Properties config = new Properties();
        config.put("default.key.serde", Serdes.StringSerde.class.getName());
        config.put("default.value.serde", Serdes.StringSerde.class.getName());
        return config;
    }

    static KafkaStreams instance(final Properties config) {
        final StreamsBuilder builder = new StreamsBuilder();
        builder.<String, String>stream("in")
            .groupBy((key, value) -> value)
            .count(Materialized.as(Stores.inMemoryKeyValueStore("counts")))
            .toStream()
            .mapValues(String::valueOf)
            .to("out");
        return new KafkaStreams(builder.build(), config);
    }
}
