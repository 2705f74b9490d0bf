import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.processor.assignment.ApplicationState;
import org.apache.kafka.streams.processor.assignment.TaskAssignor;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.state.Stores;

/**
 * Counts the values of a topic. The value "pause" delays a record, and "fail" ends the thread.
 * Arguments are key=value settings; "troubled.*" are those of this class.
 */
public final class TroubledApplication {
    private TroubledApplication() {
    }

    /** Fails at each rebalance. */
    public static final class FailingAssignor implements TaskAssignor {
        @Override
        public TaskAssignment assign(final ApplicationState state) {
            throw new IllegalStateException("no capacity is left");
        }
    }

    public static void main(final String[] settings) throws InterruptedException {
        final Properties config = OrdersApplication.defaults();
        for (final String setting : settings) {
            final int equals = setting.indexOf('=');
            config.put(setting.substring(0, equals), setting.substring(equals + 1));
        }
        final Duration pause = Duration.ofMillis(Long.parseLong(config.getProperty("troubled.pause.ms", "0")));
        final StreamsBuilder builder = new StreamsBuilder();
        builder.<String, String>stream(config.getProperty("troubled.topic", "in"))
            .peek((key, value) -> act(value, pause))
            .groupBy((key, value) -> value)
            .count(Materialized.as(Stores.inMemoryKeyValueStore("counts")))
            .toStream()
            .mapValues(String::valueOf)
            .to("out");
        final KafkaStreams streams = new KafkaStreams(builder.build(), config);
        final String response = config.getProperty("troubled.response", "SHUTDOWN_CLIENT");
        streams.setUncaughtExceptionHandler(error -> StreamThreadExceptionResponse.valueOf(response));
        OrdersApplication.run(List.of(streams));
    }

    private static void act(final String value, final Duration pause) {
        if (value.equals("fail")) {
            throw new IllegalArgumentException("a record that cannot be processed");
        }
        if (value.equals("pause")) {
            try {
                Thread.sleep(pause.toMillis());
            } catch (final InterruptedException error) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
