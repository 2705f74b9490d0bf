import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.internals.InternalTopologyBuilder;
import org.apache.kafka.streams.processor.internals.TopologyMetadata;
import org.slf4j.MDC;

/**
 * Runs the applications of {@link TopologyRows}, each in both protocols as far as Kafka allows it, in one process.
 * Arguments: bootstrap servers, a folder, names of rows (none: all). Each line of the standard input is a command,
 * which is answered with a line when it is done:
 * "start I", "kill I" (closed without leaving the group), "leave I", "grow I" (one thread more), "produce N".
 */
public final class TopologyApplications {
    private static final String STREAMS = ".streams";
    private static final Map<String, KafkaStreams> INSTANCES = new ConcurrentHashMap<>();

    private TopologyApplications() {
    }

    /** A row in one of the two protocols. */
    private record Application(TopologyRows.Row row, int number, boolean isClassic) {
        String id() {
            return isClassic ? row.name() : row.name() + STREAMS;
        }

        Properties config(final String servers, final Path folder, final String instance) {
            final Properties config = new Properties();
            config.put("application.id", id());
            config.put("client.id", id() + "-" + instance);
            config.put("bootstrap.servers", servers);
            config.put("state.dir", folder.resolve("state-" + instance).toString());
            config.put("default.key.serde", Serdes.StringSerde.class.getName());
            config.put("default.value.serde", Serdes.StringSerde.class.getName());
            config.put("dsl.store.suppliers.class",
                "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$InMemoryDslStoreSuppliers");
            config.put("statestore.cache.max.bytes", "0");
            config.put("commit.interval.ms", "200");
            config.put("num.stream.threads", number % 2 == 0 && instance.equals("i1") ? "2" : "1");
            config.put("consumer.heartbeat.interval.ms", "1000");
            if (isClassic) {
                config.put("consumer.session.timeout.ms", "8000");
                config.put("num.standby.replicas", number % 3 == 0 ? "0" : "1");
                config.put("acceptable.recovery.lag", number % 2 == 0 ? "3" : "10000");
            } else {
                config.put("group.protocol", "streams");
            }
            config.putAll(row.settings());
            return config;
        }
    }

    public static void main(final String[] arguments) {
        try {
            run(arguments);
        } catch (final Exception error) {
            error.printStackTrace();
        }
        // What called it has ended, or what it asked for cannot be done.
        Runtime.getRuntime().halt(1);
    }

    private static void run(final String[] arguments) throws Exception {
        final String servers = arguments[0];
        final Path folder = Path.of(arguments[1]);
        final Collection<String> wanted = Arrays.asList(arguments).subList(2, arguments.length);
        final List<Application> applications = new ArrayList<>();
        final List<TopologyRows.Row> rows = new ArrayList<>(TopologyRows.all());
        rows.addAll(TopologyRows.variants());
        for (final TopologyRows.Row row : wanted.isEmpty() ? TopologyRows.all() : rows) {
            if (wanted.isEmpty() || wanted.contains(row.name())) {
                applications.add(new Application(row, applications.size(), true));
                if (!row.isClassicOnly()) {
                    applications.add(new Application(row, applications.size(), false));
                }
            }
        }
        prepare(servers, applications);
        final ExecutorService pool = Executors.newFixedThreadPool(8);
        System.out.println("ready");
        final BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            final String[] words = line.split(" ");
            if (words[0].equals("produce")) {
                produce(servers, applications, Integer.parseInt(words[1]));
            } else {
                final List<Future<?>> begun = new ArrayList<>();
                for (final Application each : applications) {
                    begun.add(pool.submit(() -> {
                        command(words[0], words[1], each, servers, folder);
                        return null;
                    }));
                }
                for (final Future<?> each : begun) {
                    each.get();
                }
            }
            System.out.println("done " + line);
        }
    }

    private static void command(
        final String what, final String instance, final Application application, final String servers, final Path folder
    ) throws Exception {
        final String name = application.id() + "-" + instance;
        // The instance's threads inherit its name, by which their lines find its file.
        MDC.put("instance", name);
        switch (what) {
            case "start" -> {
                final Properties config = application.config(servers, folder, instance);
                final Topology topology = application.row().build(config);
                write(folder, application, config, topology);
                final KafkaStreams streams = new KafkaStreams(topology, config);
                INSTANCES.put(name, streams);
                streams.start();
            }
            case "grow" -> INSTANCES.get(name).addStreamThread();
            case "kill" -> close(name, CloseOptions.GroupMembershipOperation.REMAIN_IN_GROUP);
            case "leave" -> close(name, CloseOptions.GroupMembershipOperation.LEAVE_GROUP);
            case "truth" -> truth(folder, application, INSTANCES.get(name));
            default -> throw new IllegalArgumentException(what);
        }
    }

    private static void close(final String name, final CloseOptions.GroupMembershipOperation operation) {
        INSTANCES.remove(name)
            .close(CloseOptions.groupMembershipOperation(operation).withTimeout(Duration.ofSeconds(30)));
    }

    private static void prepare(final String servers, final List<Application> applications) throws Exception {
        final Map<String, Integer> topics = new TreeMap<>(Map.of("out", 1));
        applications.forEach(each -> topics.putAll(each.row().topics()));
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
            admin.createTopics(topics.entrySet().stream()
                .map(each -> new NewTopic(each.getKey(), each.getValue(), (short) 1)).toList()).all().get();
            final Map<ConfigResource, Collection<AlterConfigOp>> standbys = new HashMap<>();
            for (final Application each : applications) {
                if (!each.isClassic()) {
                    standbys.put(new ConfigResource(ConfigResource.Type.GROUP, each.id()), List.of(new AlterConfigOp(
                        new ConfigEntry("streams.num.standby.replicas", each.number() % 3 == 0 ? "0" : "1"),
                        AlterConfigOp.OpType.SET)));
                }
            }
            if (!standbys.isEmpty()) {
                admin.incrementalAlterConfigs(standbys).all().get();
            }
        }
    }

    private static void produce(final String servers, final List<Application> applications, final int records) {
        final TreeSet<String> inputs = new TreeSet<>();
        for (final Application each : applications) {
            inputs.addAll(each.row().inputs());
        }
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
            Map.of("bootstrap.servers", servers, "linger.ms", 20), new StringSerializer(), new StringSerializer())) {
            for (final String topic : inputs) {
                for (int number = 0; number < records; number++) {
                    producer.send(new ProducerRecord<>(topic, "" + number % 10, "word " + number % 7));
                }
            }
        }
    }

    private static synchronized void write(
        final Path folder, final Application application, final Properties config, final Topology topology
    ) throws IOException {
        final Path mine = Files.createDirectories(folder.resolve(application.id()));
        Files.writeString(mine.resolve("topology.txt"), topology.describe().toString());
        final StringBuilder text = new StringBuilder();
        config.forEach((key, value) -> {
            if (!key.equals("bootstrap.servers") && !key.equals("state.dir") && !key.equals("client.id")) {
                text.append(key).append('=').append(value).append('\n');
            }
        });
        Files.writeString(mine.resolve("application.properties"), text.chars().mapToObj(c -> "" + (char) c)
            .collect(Collectors.joining()).lines().sorted().collect(Collectors.joining("\n", "", "\n")));
    }

    /** Writes what Kafka itself knows of an application's sub-topologies. */
    private static void truth(final Path folder, final Application application, final KafkaStreams streams)
        throws Exception {
        final Field field = KafkaStreams.class.getDeclaredField("topologyMetadata");
        field.setAccessible(true);
        final TopologyMetadata metadata = (TopologyMetadata) field.get(streams);
        final Map<Integer, String> found = new TreeMap<>();
        final Field id = TopologyMetadata.Subtopology.class.getDeclaredField("nodeGroupId");
        id.setAccessible(true);
        for (final var of : metadata.topologyToSubtopologyTopicsInfoMap().values()) {
            for (final var each : of.entrySet()) {
                final int number = id.getInt(each.getKey());
                final InternalTopologyBuilder.TopicsInfo topics = each.getValue();
                found.put(number, "{\"sources\":" + texts(topics.sourceTopics)
                    + ",\"changelogs\":" + texts(topics.changelogTopics())
                    + ",\"stores\":" + texts(metadata.stateStoreNamesForSubtopology(null, number)) + "}");
            }
        }
        final String text = found.entrySet().stream()
            .map(each -> "\"" + each.getKey() + "\":" + each.getValue()).collect(Collectors.joining(",", "{", "}\n"));
        Files.writeString(folder.resolve(application.id()).resolve("truth.json"), text);
    }

    private static String texts(final Collection<String> names) {
        return new TreeSet<>(names).stream().map(each -> "\"" + each + "\"").collect(Collectors.joining(",", "[", "]"));
    }
}
