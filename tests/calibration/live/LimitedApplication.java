import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/**
 * Instances whose threads process a limited number of records in a second, by commands on the standard input:
 * "start NAME TOPIC STORE MICROSECONDS key=value ..." and "close NAME". STORE is "disk", or "none" for no state.
 * Each instance reports its states, and five times in a second the number of records that it has processed.
 */
public final class LimitedApplication {
    /** Time that a thread may be late and catch up. */
    private static final long LATE_NANOS = 100_000_000;
    private static final ThreadLocal<long[]> DUE = ThreadLocal.withInitial(() -> new long[1]);
    private static final Map<String, AtomicLong> COUNTS = new java.util.concurrent.ConcurrentHashMap<>();

    private LimitedApplication() {
    }

    public static void main(final String[] arguments) throws Exception {
        final Thread reports = new Thread(LimitedApplication::report);
        reports.setDaemon(true);
        reports.start();
        final Map<String, KafkaStreams> instances = new HashMap<>();
        final BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            final String[] words = line.split(" ");
            final String name = words[1];
            if (words[0].equals("start")) {
                COUNTS.put(name, new AtomicLong());
                final KafkaStreams made = new KafkaStreams(topology(words), settings(words));
                made.setStateListener((now, before) -> say("state " + name + " " + now));
                instances.put(name, made);
                made.start();
            } else {
                final KafkaStreams closed = instances.remove(name);
                new Thread(closed::close).start();
            }
        }
        System.exit(0);
    }

    private static void report() {
        while (true) {
            COUNTS.forEach((name, count) -> say("count " + name + " " + count));
            LockSupport.parkNanos(200_000_000);
        }
    }

    private static synchronized void say(final String line) {
        System.out.println(System.currentTimeMillis() + " " + line);
    }

    private static Properties settings(final String[] words) {
        final Properties settings = new Properties();
        settings.put("default.key.serde", Serdes.StringSerde.class.getName());
        settings.put("default.value.serde", Serdes.StringSerde.class.getName());
        for (int place = 5; place < words.length; place++) {
            final int equals = words[place].indexOf('=');
            settings.put(words[place].substring(0, equals), words[place].substring(equals + 1));
        }
        return settings;
    }

    private static org.apache.kafka.streams.Topology topology(final String[] words) {
        final boolean hasState = words[3].equals("disk");
        final long nanos = 1000 * Long.parseLong(words[4]);
        final StreamsBuilder builder = new StreamsBuilder();
        if (hasState) {
            builder.addStateStore(Stores.keyValueStoreBuilder(
                Stores.persistentKeyValueStore("last"), Serdes.String(), Serdes.String()));
        }
        final var records = builder.<String, String>stream(words[2]);
        final String[] stores = hasState ? new String[] {"last"} : new String[0];
        records.process(() -> new Limited(COUNTS.get(words[1]), nanos, hasState), stores);
        return builder.build();
    }

    private static final class Limited implements Processor<String, String, Void, Void> {
        private final AtomicLong count;
        private final long nanos;
        private final boolean hasState;
        private KeyValueStore<String, String> last;

        Limited(final AtomicLong count, final long nanos, final boolean hasState) {
            this.count = count;
            this.nanos = nanos;
            this.hasState = hasState;
        }

        @Override
        public void init(final ProcessorContext<Void, Void> context) {
            if (hasState) {
                last = context.getStateStore("last");
            }
        }

        @Override
        public void process(final Record<String, String> record) {
            final long[] due = DUE.get();
            final long now = System.nanoTime();
            due[0] = Math.max(due[0], now - LATE_NANOS) + nanos;
            while (System.nanoTime() < due[0]) {
                LockSupport.parkNanos(due[0] - System.nanoTime());
            }
            if (hasState) {
                last.put(record.key(), record.value());
            }
            count.incrementAndGet();
        }
    }
}
