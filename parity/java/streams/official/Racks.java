package official;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.internals.InternalTopicManager;
import org.apache.kafka.streams.processor.internals.TopologyMetadata.Subtopology;
import org.apache.kafka.streams.processor.internals.assignment.RackAwareTaskAssignor;

/** What the internal assignors know of racks: the leader's metadata, and an admin client that describes changelogs. */
final class Racks {
    private final GroupState group;
    private final Map<String, Node> nodes = new TreeMap<>();
    private final Map<String, TreeMap<Integer, Node[]>> replicas = new HashMap<>();

    private Racks(GroupState group) {
        this.group = group;
    }

    /** Kafka's optimiser over the group's partitions; whether it runs at all is its own decision. */
    static RackAwareTaskAssignor optimizer(GroupState group) {
        return new Racks(group).optimizer();
    }

    private RackAwareTaskAssignor optimizer() {
        Map<TaskId, Set<TopicPartition>> sources = new HashMap<>();
        Map<TaskId, Set<TopicPartition>> changelogs = new HashMap<>();
        Map<Subtopology, Set<TaskId>> subtopologies = new HashMap<>();
        List<PartitionInfo> known = new ArrayList<>();
        for (TaskId task : group.listedTasks) {
            Set<TopicPartition> read = new HashSet<>();
            Set<TopicPartition> logged = new HashSet<>();
            for (JsonNode partition : group.taskDocuments.get(task).get("partitions")) {
                TopicPartition id = GroupState.topicPartition(partition);
                Node[] held = replicasOf(partition.get("racks"));
                replicas.computeIfAbsent(id.topic(), topic -> new TreeMap<>()).put(id.partition(), held);
                if (partition.get("source").asBoolean()) {
                    read.add(id);
                    known.add(new PartitionInfo(id.topic(), id.partition(), held[0], held, held));
                }
                if (partition.get("changelog").asBoolean()) {
                    logged.add(id);
                }
            }
            sources.put(task, read);
            if (!logged.isEmpty()) {
                changelogs.put(task, logged);
            }
            subtopologies
                .computeIfAbsent(new Subtopology(task.subtopology(), task.topologyName()), key -> new TreeSet<>())
                .add(task);
        }
        Cluster cluster = new Cluster("cluster", nodes.values(), known, Set.of(), Set.of());
        return new RackAwareTaskAssignor(
            cluster, sources, changelogs, subtopologies, clientRacks(), new Describer(), group.configs, Time.SYSTEM);
    }

    /** One broker for each rack; unknown racks are one replica on a broker that has none. */
    private Node[] replicasOf(JsonNode racks) {
        if (racks == null || racks.isEmpty()) {
            return new Node[] {nodes.computeIfAbsent("", none -> new Node(nodes.size(), "broker", 9092))};
        }
        Node[] held = new Node[racks.size()];
        for (int replica = 0; replica < held.length; replica++) {
            String rack = racks.get(replica).asText();
            held[replica] = nodes.computeIfAbsent(
                "rack " + rack, unused -> new Node(nodes.size(), "broker", 9092, rack));
        }
        return held;
    }

    /** A client without consumers counts as if it had one. */
    private Map<ProcessId, Map<String, Optional<String>>> clientRacks() {
        Map<ProcessId, Map<String, Optional<String>>> racks = new HashMap<>();
        for (ProcessId process : group.listedProcesses) {
            JsonNode client = group.clientDocuments.get(process);
            Map<String, Optional<String>> ofConsumers = new HashMap<>();
            GroupState.consumers(client).forEach(name -> ofConsumers.put(name, GroupState.rack(client)));
            if (ofConsumers.isEmpty()) {
                ofConsumers.put("consumer", GroupState.rack(client));
            }
            racks.put(process, ofConsumers);
        }
        return racks;
    }

    /** Answers descriptions of topics from the scenario, every topic with all the partitions that tasks name. */
    private final class Describer extends InternalTopicManager {
        Describer() {
            super(Time.SYSTEM, (Admin) null, new StreamsConfig(Map.of(
                StreamsConfig.APPLICATION_ID_CONFIG, "official", StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "broker:9092")));
        }

        @Override
        public Map<String, List<TopicPartitionInfo>> getTopicPartitionInfo(Set<String> topics) {
            Map<String, List<TopicPartitionInfo>> described = new HashMap<>();
            for (String topic : topics) {
                List<TopicPartitionInfo> partitions = new ArrayList<>();
                replicas.getOrDefault(topic, new TreeMap<>()).forEach((number, held) ->
                    partitions.add(new TopicPartitionInfo(number, held[0], List.of(held), List.of(held))));
                described.put(topic, partitions);
            }
            return described;
        }
    }
}
