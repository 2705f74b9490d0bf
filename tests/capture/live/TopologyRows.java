import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.regex.Pattern;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.GlobalKTable;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.Suppressed.BufferConfig;
import org.apache.kafka.streams.kstream.TableJoined;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;

/** Topologies of small applications. */
final class TopologyRows {
    private static final Serde<String> TEXT = Serdes.String();
    private static final String OUT = "out";
    private static final String OPTIMIZATION = "topology.optimization";
    private static final Duration WINDOW = Duration.ofMinutes(5);

    private TopologyRows() {
    }

    /**
     * An application.
     *
     * @param name its application id in the classic protocol
     * @param topics topics to create, with their numbers of partitions
     * @param inputs those of them that get records
     * @param settings its configuration besides the common one
     * @param isClassicOnly whether the streams protocol does not allow it
     * @param topology makes the topology from the configuration; its prefix of topics comes first
     */
    record Row(
        String name, Map<String, Integer> topics, List<String> inputs, Map<String, String> settings,
        boolean isClassicOnly, BiFunction<StreamsBuilder, Properties, Topology> topology
    ) {
        Row with(final String... more) {
            final Map<String, String> merged = new TreeMap<>(settings);
            for (int i = 0; i < more.length; i += 2) {
                merged.put(more[i], more[i + 1]);
            }
            return new Row(name, topics, inputs, merged, isClassicOnly, topology);
        }

        Row withTopic(final String topic, final int partitions) {
            final Map<String, Integer> merged = new TreeMap<>(topics);
            merged.put(topic, partitions);
            return new Row(name, merged, inputs, settings, isClassicOnly, topology);
        }

        Row classicOnly() {
            return new Row(name, topics, inputs, settings, true, topology);
        }

        Topology build(final Properties config) {
            return topology.apply(new StreamsBuilder(new TopologyConfig(new StreamsConfig(config))), config);
        }
    }

    /** Adds steps to a builder. */
    interface Steps {
        void add(StreamsBuilder builder);
    }

    static List<Row> all() {
        final List<Row> rows = new ArrayList<>();
        rows.add(row("stateless", Map.of("stateless-a", 3, "stateless-b", 3, "stateless-c", 3), b -> {
            copied(b, "stateless-a");
            counted(b, "stateless-b", "b-counts");
            counted(b, "stateless-c", "c-counts");
        }));
        rows.add(row("twostateless", Map.of("twostateless-a", 3, "twostateless-b", 3, "twostateless-c", 3,
            "twostateless-d", 3, "twostateless-big", 3), b -> {
                copied(b, "twostateless-a");
                b.<String, String>stream("twostateless-big").groupByKey().reduce((before, now) -> now,
                    Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as("latest").withLoggingDisabled());
                counted(b, "twostateless-c", "c-counts");
                copied(b, "twostateless-b");
                counted(b, "twostateless-d", "d-counts");
            }));
        rows.add(row("unlogged", Map.of("unlogged-a", 3, "unlogged-b", 3), b -> {
            b.<String, String>stream("unlogged-a").groupByKey().count(
                Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("a-counts").withLoggingDisabled());
            counted(b, "unlogged-b", "b-counts");
        }));
        rows.add(row("optimised", Map.of("optimised-users", 3, "optimised-clicks", 3),
            b -> joined(b, "optimised-clicks", table(b, "optimised-users", "users"))).with(OPTIMIZATION, "all"));
        rows.add(row("optimisedlist", Map.of("optimisedlist-users", 3, "optimisedlist-words", 2), b -> {
            table(b, "optimisedlist-users", "users").toStream().to(OUT);
            counted(b, "optimisedlist-words", "words");
        }).with(OPTIMIZATION, "reuse.ktable.source.topics"));
        rows.add(row("plaintable", Map.of("plaintable-users", 3, "plaintable-clicks", 3),
            b -> joined(b, "plaintable-clicks", b.table("plaintable-users",
                Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as("users").withLoggingDisabled()))));
        rows.add(new Row("readonly", Map.of("readonly-users", 3, "readonly-clicks", 3),
            List.of("readonly-users", "readonly-clicks"), Map.of(), false, (builder, config) -> readOnly()));
        rows.add(row("stale", Map.of("stale-users", 3, "stale-clicks", 3),
            b -> joined(b, "stale-clicks", table(b, "stale-users", "users"))).with(OPTIMIZATION, "all")
            .withTopic("stale-users-changelog", 3).withTopic("stale.streams-users-changelog", 3));
        rows.add(row("foreignkey", Map.of("foreignkey-orders", 3, "foreignkey-users", 2), b ->
            table(b, "foreignkey-orders", "orders")
                .join(table(b, "foreignkey-users", "users"), TopologyRows::userOf, (order, user) -> order + user)
                .toStream().to(OUT)));
        rows.add(row("foreignkeynamed", Map.of("foreignkeynamed-orders", 3, "foreignkeynamed-users", 3), b ->
            table(b, "foreignkeynamed-orders", "orders")
                .join(table(b, "foreignkeynamed-users", "users"), TopologyRows::userOf, (order, user) -> order + user,
                    TableJoined.as("enrich"), Materialized.as("enriched"))
                .toStream().to(OUT)).with(OPTIMIZATION, "all"));
        rows.add(row("ownrepartition", Map.of("ownrepartition-in", 2, "ownrepartition-words-repartition", 3), b -> {
            b.<String, String>stream("ownrepartition-in").to("ownrepartition-words-repartition");
            counted(b, "ownrepartition-words-repartition", "words");
        }));
        rows.add(row("pattern", Map.of("pattern-in-a", 2, "pattern-in-b", 3, "pattern-other", 2), b -> {
            b.<String, String>stream(Pattern.compile("pattern-in-.*")).groupByKey().count(Materialized.as("counts"));
            copied(b, "pattern-other");
        }).classicOnly());
        for (final String name : List.of("orders", "orders-eu")) {
            rows.add(row(name, Map.of(name + "-in", 3), b -> b.<String, String>stream(name + "-in")
                .groupBy((key, value) -> value, Grouped.as("by-value")).count(Materialized.as("counts"))));
        }
        rows.add(row("merge", Map.of("merge-a", 2, "merge-b", 4), b -> b.<String, String>stream("merge-a")
            .merge(b.stream("merge-b")).groupByKey().count(Materialized.as("counts"))));
        rows.add(row("severalstores", Map.of("severalstores-in", 3), b -> {
            final KGroupedStream<String, String> grouped =
                b.<String, String>stream("severalstores-in").groupBy((key, value) -> value, Grouped.as("words"));
            grouped.count(Materialized.as("counts"));
            grouped.reduce((before, now) -> now, Materialized.as("latest"));
            grouped.aggregate(() -> "", (key, value, so) -> value, Materialized.as("aggregates"));
        }));
        rows.add(row("streamjoin", Map.of("streamjoin-a", 3, "streamjoin-b", 3), b -> {
            final KStream<String, String> left = b.stream("streamjoin-a");
            left.leftJoin(b.<String, String>stream("streamjoin-b"), (a, other) -> a + other,
                JoinWindows.ofTimeDifferenceAndGrace(WINDOW, WINDOW)).to(OUT);
            left.join(b.<String, String>stream("streamjoin-b"), (a, other) -> a + other,
                JoinWindows.ofTimeDifferenceWithNoGrace(WINDOW), StreamJoined.as("named")).to(OUT);
        }));
        rows.add(row("suppressed", Map.of("suppressed-in", 3), b -> b.<String, String>stream("suppressed-in")
            .groupByKey().windowedBy(TimeWindows.ofSizeWithNoGrace(WINDOW)).count(TopologyRows.windowed("counts"))
            .suppress(Suppressed.untilWindowCloses(BufferConfig.unbounded()))
            .toStream((key, value) -> key.key()).mapValues(String::valueOf).to(OUT)));
        rows.add(row("windows", Map.of("windows-a", 3, "windows-b", 2, "windows-c", 3), b -> {
            b.<String, String>stream("windows-a").groupByKey()
                .windowedBy(SessionWindows.ofInactivityGapWithNoGrace(WINDOW)).count(Materialized.as("sessions"));
            b.table("windows-b", Materialized.<String, String>as(
                Stores.persistentVersionedKeyValueStore("versions", WINDOW)));
            b.<String, String>stream("windows-c").groupByKey()
                .windowedBy(TimeWindows.ofSizeWithNoGrace(WINDOW)).count();
        }));
        rows.add(row("globalstore", Map.of("globalstore-countries", 2, "globalstore-in", 3), b -> {
            final GlobalKTable<String, String> countries =
                b.globalTable("globalstore-countries", Materialized.as("countries"));
            b.<String, String>stream("globalstore-in")
                .join(countries, (key, value) -> value, (value, country) -> value + country)
                .groupByKey().count(Materialized.as("counts"));
            b.<String, String>stream("globalstore-in")
                .leftJoin(countries, (key, value) -> key, (value, country) -> value + country).to(OUT);
        }));
        rows.add(row("sharedstore", Map.of("sharedstore-a", 3, "sharedstore-b", 2), b -> {
            b.addStateStore(store("shared"));
            b.<String, String>stream("sharedstore-a").process(writer("shared"), "shared");
            b.<String, String>stream("sharedstore-b").process(writer("shared"), "shared");
        }));
        rows.add(row("tablejoin", Map.of("tablejoin-a", 3, "tablejoin-b", 3), b -> {
            final KTable<String, String> left = table(b, "tablejoin-a", "a");
            left.join(b.<String, String>table("tablejoin-b"), (a, other) -> a + other, Materialized.as("both"));
            left.groupBy((key, value) -> KeyValue.pair(value, value), Grouped.as("by-value"))
                .count(Materialized.as("counts"));
        }).with(OPTIMIZATION, "all"));
        rows.add(row("exactlyonce", Map.of("exactlyonce-users", 3, "exactlyonce-in", 3), b -> {
            table(b, "exactlyonce-users", "users").toStream().to(OUT);
            counted(b, "exactlyonce-in", "counts");
        }).with(OPTIMIZATION, "all", StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2));
        rows.add(row("many", Map.of("many-clicks", 4, "many-users", 4, "many-orders", 3, "many-copied", 3,
            "many-a", 2, "many-b", 4, "many-words", 3, "many-latest", 3), b -> {
                final KTable<String, String> users = table(b, "many-users", "users");
                joined(b, "many-clicks", users);
                table(b, "many-orders", "orders")
                    .join(users, TopologyRows::userOf, (order, user) -> order + user).toStream().to(OUT);
                copied(b, "many-copied");
                b.<String, String>stream("many-a").merge(b.stream("many-b")).groupByKey()
                    .count(Materialized.as("merged"));
                b.<String, String>stream("many-words").groupBy((key, value) -> value, Grouped.as("by-value"))
                    .windowedBy(TimeWindows.ofSizeWithNoGrace(WINDOW)).count(TopologyRows.windowed("windowed"))
                    .suppress(Suppressed.untilWindowCloses(BufferConfig.unbounded()));
                b.<String, String>stream("many-latest").groupByKey().reduce((before, now) -> now,
                    Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as("latest").withLoggingDisabled());
            }).with(OPTIMIZATION, "all"));
        return rows;
    }

    /** Further cases, which run only if they are named. */
    static List<Row> variants() {
        final List<Row> rows = new ArrayList<>();
        rows.add(row("depot", Map.of("depot-stock", 3, "depot-sales", 3, "depot-raw", 3, "depot-copy", 3), b -> {
            final KTable<String, String> stock = table(b, "depot-stock", "stock");
            b.<String, String>stream("depot-sales").leftJoin(stock, (x, y) -> x + y).groupBy((k, v) -> v)
                .count(Materialized.as("per"));
            copied(b, "depot-copy");
            b.<String, String>stream("depot-raw").groupByKey().count(
                Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("raw").withLoggingDisabled());
        }).with(OPTIMIZATION, "all").withTopic("depot-stock-changelog", 3)
            .withTopic("depot.streams-stock-changelog", 3));
        rows.add(new Row("settings", Map.of("settings-in", 3, "settings-x", 3, "settings-y", 2),
            List.of("settings-in", "settings-x", "settings-y"), Map.of(), false, (builder, config) -> settings()));
        rows.add(row("eta", Map.of("eta-prices-changelog", 3, "eta-in", 3), b -> {
            joined(b, "eta-in", table(b, "eta-prices-changelog", "list"));
            counted(b, "eta-in", "counts");
        }).with("acceptable.recovery.lag", "3", "num.standby.replicas", "1"));
        rows.add(new Row("kappa", Map.of("kappa-a", 3, "kappa-b", 3), List.of("kappa-a", "kappa-b"),
            Map.of("acceptable.recovery.lag", "3"), false, (builder, config) -> {
                final Topology topology = new Topology();
                topology.addSource("sa", new StringDeserializer(), new StringDeserializer(), "kappa-a");
                topology.addProcessor("pa", writer("kept"), "sa").addStateStore(store("kept"), "pa")
                    .addStateStore(store("cache").withLoggingDisabled(), "pa");
                topology.addReadOnlyStateStore(store("kept-ro"), "sb", new StringDeserializer(),
                    new StringDeserializer(), "kappa-b", "kept-ro-reader", writer("kept-ro"));
                return topology;
            }));
        rows.add(row("patternfk", Map.of("patternfk-s-1", 3, "patternfk-s-2", 3, "patternfk-u", 3), b ->
            b.<String, String>stream(Pattern.compile("patternfk-s-\\d"))
                .join(table(b, "patternfk-u", "u"), (x, y) -> x + y)
                .groupBy((k, v) -> v, Grouped.as("val")).count(Materialized.as("vals")))
            .with(OPTIMIZATION, "all", "num.standby.replicas", "1", "acceptable.recovery.lag", "3").classicOnly());
        rows.add(row("shared3", Map.of("shared3-a", 3, "shared3-b", 3, "shared3-c", 3), b -> {
            b.addStateStore(store("s1"));
            b.addStateStore(store("s2").withLoggingDisabled());
            b.<String, String>stream("shared3-a").process(writer("s1"), "s1", "s2");
            b.<String, String>stream("shared3-b").process(writer("s1"), "s1");
            b.<String, String>stream("shared3-c").groupByKey().aggregate(() -> "", (k, v, a) -> v,
                Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as("s3").withLoggingDisabled());
        }).with("num.standby.replicas", "1", "acceptable.recovery.lag", "3"));
        rows.add(row("suppnolog", Map.of("suppnolog-in", 3, "suppnolog-l", 3, "suppnolog-r", 3), b -> {
            b.<String, String>stream("suppnolog-in").groupByKey().windowedBy(TimeWindows.ofSizeWithNoGrace(WINDOW))
                .count(TopologyRows.windowed("counts"))
                .suppress(Suppressed.untilWindowCloses(BufferConfig.unbounded().withLoggingDisabled()));
            b.<String, String>stream("suppnolog-l").join(b.<String, String>stream("suppnolog-r"), (x, y) -> x + y,
                JoinWindows.ofTimeDifferenceWithNoGrace(WINDOW),
                StreamJoined.<String, String, String>as("nolog").withLoggingDisabled()).to(OUT);
        }));
        return rows;
    }

    private static Row row(final String name, final Map<String, Integer> topics, final Steps steps) {
        return new Row(name, topics, topics.keySet().stream().sorted().toList(), Map.of(), false,
            (builder, config) -> {
                steps.add(builder);
                return builder.build(config);
            });
    }

    private static void copied(final StreamsBuilder builder, final String topic) {
        builder.<String, String>stream(topic).mapValues(value -> value + "!").to(OUT);
    }

    private static void counted(final StreamsBuilder builder, final String topic, final String store) {
        builder.<String, String>stream(topic).groupByKey().count(Materialized.as(store));
    }

    private static KTable<String, String> table(final StreamsBuilder builder, final String topic, final String store) {
        return builder.table(topic, Consumed.with(TEXT, TEXT),
            Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as(store));
    }

    private static void joined(final StreamsBuilder builder, final String topic, final KTable<String, String> table) {
        builder.<String, String>stream(topic).join(table, (value, other) -> value + other).to(OUT);
    }

    private static Materialized<String, Long, WindowStore<Bytes, byte[]>> windowed(final String store) {
        return Materialized.<String, Long, WindowStore<Bytes, byte[]>>as(store)
            .withKeySerde(TEXT).withValueSerde(Serdes.Long());
    }

    private static String userOf(final String order) {
        return order.substring(order.length() - 1);
    }

    private static StoreBuilder<KeyValueStore<String, String>> store(final String name) {
        return Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore(name), TEXT, TEXT);
    }

    private static ProcessorSupplier<String, String, Void, Void> writer(final String store) {
        return () -> new Processor<>() {
            private KeyValueStore<String, String> values;

            @Override
            public void init(final ProcessorContext<Void, Void> context) {
                values = context.getStateStore(store);
            }

            @Override
            public void process(final Record<String, String> record) {
                values.put(record.key(), record.value());
            }
        };
    }

    /** A store that is read back from its source topic (KIP-813), and a processor of another topic that reads it. */
    private static Topology readOnly() {
        final Topology topology = new Topology();
        topology.addReadOnlyStateStore(store("users"), "users-source", new StringDeserializer(),
            new StringDeserializer(), "readonly-users", "users-reader", writer("users"));
        topology.addSource("clicks-source", new StringDeserializer(), new StringDeserializer(), "readonly-clicks");
        topology.addProcessor("enrich", writer("users"), "clicks-source");
        topology.connectProcessorAndStateStores("enrich", "users");
        return topology;
    }

    /** A read-only store beside a logged one that stays empty, and a store that is not logged. */
    private static Topology settings() {
        final Topology topology = new Topology();
        topology.addReadOnlyStateStore(store("limits"), "from", new StringDeserializer(),
            new StringDeserializer(), "settings-in", "keeps", writer("limits"));
        topology.addSource("x", new StringDeserializer(), new StringDeserializer(), "settings-x");
        topology.addProcessor("px", writer("limits"), "x");
        topology.connectProcessorAndStateStores("px", "limits");
        topology.addStateStore(store("seen"), "px");
        topology.addSource("y", new StringDeserializer(), new StringDeserializer(), "settings-y");
        topology.addProcessor("py", writer("tmp"), "y");
        topology.addStateStore(store("tmp").withLoggingDisabled(), "py");
        return topology;
    }
}
