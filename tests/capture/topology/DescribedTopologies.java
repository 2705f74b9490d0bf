import com.fasterxml.jackson.databind.ObjectMapper;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Pattern;

import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TableJoined;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.internals.InternalTopologyBuilder;
import org.apache.kafka.streams.processor.internals.TopologyMetadata;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/**
 * Prints topologies as their users see them, and what Kafka makes of them, as JSON lines.
 *
 * <p>{"name", "optimization", "text", "subtopologies": {number: {"sources", "repartitions", "changelogs"}},
 * "stores": {store: changelog}}; the application id is "app".
 */
public final class DescribedTopologies {
    public static void main(String[] args) throws Exception {
        for (String optimization : List.of("none", "all")) {
            dsl("counts beside a copy", optimization, b -> {
                b.<String, String>stream("in").groupByKey().count(Materialized.as("latest"));
                b.<String, String>stream("m-a").to("m-out");
                b.<String, String>stream("other").groupByKey().count();
            });
            dsl("count without logging", optimization, b ->
                b.<String, String>stream("in").groupByKey()
                    .count(Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("c").withLoggingDisabled()));
            dsl("count after a new key", optimization, b ->
                b.<String, String>stream("in").groupBy((k, v) -> v).count());
            dsl("count after a new key with names", optimization, b ->
                b.<String, String>stream("in").groupBy((k, v) -> v, Grouped.as("by-word"))
                    .count(Named.as("counter"), Materialized.as("words")));
            dsl("repartition", optimization, b ->
                b.<String, String>stream("in").repartition(Repartitioned.as("by-city"))
                    .groupByKey().count(Materialized.as("cities")));
            dsl("stores behind one repartition", optimization, b -> {
                var keyed = b.<String, String>stream("in").selectKey((k, v) -> v).groupByKey(Grouped.as("again"));
                keyed.count(Materialized.as("a"));
                keyed.reduce((x, y) -> y, Materialized.as("b"));
                keyed.windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofMinutes(1))).count(Materialized.as("w"));
            });
            dsl("aggregates of a selected key", optimization, b -> {
                var keyed = b.<String, String>stream("in").selectKey((k, v) -> v).groupByKey();
                keyed.count();
                keyed.reduce((x, y) -> y);
            });
            dsl("table", optimization, b -> b.table("users", Materialized.as("users-store")));
            dsl("table with a name", optimization, b ->
                b.table("users", Consumed.as("people"), Materialized.as("users-store")));
            dsl("table without logging", optimization, b ->
                b.table("users", Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as("users-store")
                    .withLoggingDisabled()));
            dsl("table joined by a stream", optimization, b -> {
                KTable<String, String> users = b.table("users", Materialized.as("users-store"));
                b.<String, String>stream("clicks").join(users, (x, y) -> x).to("joined");
            });
            dsl("table joined without a name", optimization, b -> {
                KTable<String, String> users = b.table("users");
                b.<String, String>stream("clicks").leftJoin(users, (x, y) -> x).to("joined");
            });
            dsl("table that is not kept", optimization, b ->
                b.<String, String>table("users").filter((k, v) -> true).toStream().to("out"));
            dsl("versioned table", optimization, b ->
                b.table("users", Materialized.as(
                    Stores.persistentVersionedKeyValueStore("users-store", Duration.ofHours(1)))));
            dsl("tables joined", optimization, b -> {
                KTable<String, String> a = b.table("a", Materialized.as("a-store"));
                KTable<String, String> c = b.table("c");
                a.join(c, (x, y) -> x, Materialized.as("joined"));
            });
            dsl("table grouped", optimization, b ->
                b.<String, String>table("users").groupBy((k, v) -> KeyValue.pair(v, k)).count());
            dsl("table grouped with a name", optimization, b ->
                b.<String, String>table("users").groupBy((k, v) -> KeyValue.pair(v, k)).count(Materialized.as("many")));
            dsl("foreign key", optimization, b -> {
                KTable<String, String> a = b.table("a");
                KTable<String, String> c = b.table("c");
                a.join(c, v -> v, (x, y) -> x).toStream().to("out");
            });
            dsl("foreign key with names", optimization, b -> {
                KTable<String, String> a = b.table("a", Materialized.as("a-store"));
                KTable<String, String> c = b.table("c", Materialized.as("c-store"));
                a.leftJoin(c, v -> v, (x, y) -> x, TableJoined.as("fk"), Materialized.as("joined"));
            });
            dsl("own topic called as a repartition", optimization, b -> {
                b.<String, String>stream("in").to("mine-repartition");
                b.<String, String>stream("mine-repartition").groupByKey().count(Materialized.as("c"));
            });
            dsl("pattern", optimization, b -> {
                b.<String, String>stream(Pattern.compile("orders-.*")).groupByKey().count(Materialized.as("c"));
                b.<String, String>stream("in").to("out");
            });
            dsl("merge", optimization, b ->
                b.<String, String>stream("a").merge(b.stream("b")).to("out"));
            dsl("two topics", optimization, b ->
                b.<String, String>stream(List.of("a", "b")).to("out"));
            dsl("streams joined", optimization, b -> {
                KStream<String, String> c = b.stream("c");
                b.<String, String>stream("a").outerJoin(c, (x, y) -> x + y,
                    JoinWindows.ofTimeDifferenceWithNoGrace(Duration.ofMinutes(1))).to("out");
            });
            dsl("streams joined after a new key", optimization, b -> {
                KStream<String, String> c = b.<String, String>stream("c").selectKey((k, v) -> v);
                b.<String, String>stream("a").join(c, (x, y) -> x + y,
                    JoinWindows.ofTimeDifferenceWithNoGrace(Duration.ofMinutes(1))).to("out");
            });
            dsl("suppress", optimization, b ->
                b.<String, String>stream("in").groupByKey()
                    .windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofMinutes(1))).count()
                    .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded())));
            dsl("session windows", optimization, b ->
                b.<String, String>stream("in").groupByKey()
                    .windowedBy(SessionWindows.ofInactivityGapWithNoGrace(Duration.ofMinutes(1))).count());
            dsl("global table", optimization, b -> {
                var countries = b.globalTable("countries", Materialized.as("countries-store"));
                b.<String, String>stream("in").join(countries, (k, v) -> v, (x, y) -> x).groupByKey()
                    .count(Materialized.as("c"));
            });
            dsl("store of two processors", optimization, b -> {
                b.addStateStore(store("shared"));
                b.<String, String>stream("a").process(nothing(), Named.as("writer"), "shared");
                b.<String, String>stream("b").process(nothing(), Named.as("reader"), "shared");
            });
            dsl("read-only store beside a count", optimization, b -> {
                b.<String, String>stream("in").groupByKey().count(Materialized.as("c"));
            }, t -> t.addReadOnlyStateStore(store("settings"), "settings-source", Serdes.String().deserializer(),
                Serdes.String().deserializer(), "settings-in", "settings-processor", nothing()));
        }
        api("read-only store", t -> t.addReadOnlyStateStore(store("settings"), "settings-source",
            Serdes.String().deserializer(), Serdes.String().deserializer(), "settings-in", "settings-processor",
            nothing()));
        api("read-only store with a reader", t -> {
            t.addReadOnlyStateStore(store("settings"), "settings-source", Serdes.String().deserializer(),
                Serdes.String().deserializer(), "settings-in", "settings-processor", nothing());
            t.addSource("s", "in").addProcessor("reader", nothing(), "s")
                .connectProcessorAndStateStores("reader", "settings");
        });
        api("processor with a store", t -> t.addSource("s", "in").addProcessor("p", nothing(), "s")
            .addStateStore(store("kept"), "p"));
        api("processor with a store without logging", t -> t.addSource("s", "in").addProcessor("p", nothing(), "s")
            .addStateStore(store("kept").withLoggingDisabled(), "p"));
        api("sink whose topic is chosen", t -> t.addSource("s", "in").addSink("k", (k, v, c) -> "out", "s"));
    }

    private static StoreBuilder<KeyValueStore<String, String>> store(String name) {
        KeyValueBytesStoreSupplier supplier = Stores.inMemoryKeyValueStore(name);
        return Stores.keyValueStoreBuilder(supplier, Serdes.String(), Serdes.String());
    }

    private static ProcessorSupplier<String, String, Void, Void> nothing() {
        return () -> new Processor<>() {
            @Override
            public void process(Record<String, String> record) {
            }
        };
    }

    private static void dsl(String name, String optimization, Consumer<StreamsBuilder> of) throws Exception {
        dsl(name, optimization, of, t -> { });
    }

    private static void dsl(String name, String optimization, Consumer<StreamsBuilder> of, Consumer<Topology> more)
            throws Exception {
        StreamsBuilder builder = new StreamsBuilder();
        of.accept(builder);
        Properties config = config(optimization);
        Topology topology = builder.build(config);
        more.accept(topology);
        print(name, optimization, topology, config);
    }

    private static void api(String name, Consumer<Topology> of) throws Exception {
        Topology topology = new Topology();
        of.accept(topology);
        print(name, "none", topology, config("none"));
    }

    private static Properties config(String optimization) {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "127.0.0.1:1");
        config.put(StreamsConfig.TOPOLOGY_OPTIMIZATION_CONFIG, optimization);
        config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        config.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        return config;
    }

    @SuppressWarnings("unchecked")
    private static void print(String name, String optimization, Topology topology, Properties config) throws Exception {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("name", name);
        shown.put("optimization", optimization);
        shown.put("text", topology.describe().toString());
        Field field = Topology.class.getDeclaredField("internalTopologyBuilder");
        field.setAccessible(true);
        InternalTopologyBuilder internal = (InternalTopologyBuilder) field.get(topology);
        internal.rewriteTopology(new StreamsConfig(config));
        internal.buildTopology();
        Map<String, Object> groups = new TreeMap<>();
        for (Map.Entry<TopologyMetadata.Subtopology, InternalTopologyBuilder.TopicsInfo> each
                : internal.subtopologyToTopicsInfo().entrySet()) {
            Map<String, Object> group = new LinkedHashMap<>();
            group.put("sources", new TreeSet<>(each.getValue().sourceTopics));
            group.put("repartitions", new TreeSet<>(each.getValue().repartitionSourceTopics.keySet()));
            group.put("changelogs", new TreeSet<>(each.getValue().stateChangelogTopics.keySet()));
            Field number = TopologyMetadata.Subtopology.class.getDeclaredField("nodeGroupId");
            number.setAccessible(true);
            groups.put(String.valueOf(number.get(each.getKey())), group);
        }
        shown.put("subtopologies", groups);
        Field stores = InternalTopologyBuilder.class.getDeclaredField("storeToChangelogTopic");
        stores.setAccessible(true);
        shown.put("stores", new TreeMap<>((Map<String, String>) stores.get(internal)));
        System.out.println(new ObjectMapper().writeValueAsString(shown));
    }
}
