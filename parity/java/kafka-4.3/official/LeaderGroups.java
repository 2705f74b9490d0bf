package official;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/** Scenarios of kind {@code consumer}: the assignors that the leader of a consumer group calls. */
final class LeaderGroups {
    private final Cluster cluster;
    private final GroupSubscription subscriptions;
    private final ConsumerPartitionAssignor assignor;

    LeaderGroups(JsonNode scenario, String assignor) {
        this.assignor = assignor(assignor);
        if (scenario.hasNonNull("max_generation") && this.assignor instanceof AbstractStickyAssignor sticky) {
            remember(sticky, scenario.get("max_generation").asInt());
        }
        cluster = cluster(scenario.get("topics"));
        // As the consumer reads the JoinGroup response: a hash map in its order.
        Map<String, Subscription> members = new HashMap<>();
        scenario.get("members").forEach(member -> members.put(member.get("id").asText(), subscription(member)));
        subscriptions = new GroupSubscription(members);
    }

    Map<String, Assignment> assigned() {
        return assignor.assign(cluster, subscriptions).groupAssignment();
    }

    static ObjectNode row(ObjectMapper json, JsonNode scenario, String assignor) {
        ObjectNode row = json.createObjectNode();
        row.put("format", 1).put("kind", "consumer").put("id", scenario.get("id").asText()).put("assignor", assignor);
        try {
            Map<String, Assignment> answer = new LeaderGroups(scenario, assignor).assigned();
            ObjectNode fields = json.createObjectNode();
            scenario.get("members").forEach(member -> {
                String id = member.get("id").asText();
                ObjectNode held = fields.putObject(id);
                Map<String, ArrayNode> byTopic = new LinkedHashMap<>();
                if (answer.containsKey(id)) {
                    answer.get(id).partitions().forEach(partition ->
                        byTopic.computeIfAbsent(partition.topic(), held::putArray).add(partition.partition()));
                }
            });
            row.set("members", fields);
            return row.putNull("error");
        } catch (RuntimeException error) {
            row.putNull("members").putObject("error")
                .put("type", error.getClass().getName()).put("message", error.getMessage());
            return row;
        }
    }

    private static ConsumerPartitionAssignor assignor(String name) {
        return switch (name) {
            case "consumer_range" -> new RangeAssignor();
            case "consumer_roundrobin" -> new RoundRobinAssignor();
            case "consumer_sticky" -> new StickyAssignor();
            case "consumer_cooperative_sticky" -> new CooperativeStickyAssignor();
            default -> throw new IllegalArgumentException("unknown assignor " + name);
        };
    }

    /** The highest generation that the assignor saw in earlier calls; Kafka has no other way to give it. */
    private static void remember(AbstractStickyAssignor assignor, int generation) {
        try {
            Field field = AbstractStickyAssignor.class.getDeclaredField("maxGeneration");
            field.setAccessible(true);
            field.setInt(assignor, generation);
        } catch (ReflectiveOperationException error) {
            throw new LinkageError("this kafka-clients keeps the generation in another way", error);
        }
    }

    private static Cluster cluster(JsonNode topics) {
        Map<String, Node> byRack = new HashMap<>();
        List<PartitionInfo> partitions = new ArrayList<>();
        topics.forEach(topic -> {
            String name = topic.get("name").asText();
            for (int number = 0; number < topic.get("partitions").asInt(); number++) {
                List<Node> replicas = new ArrayList<>();
                if (topic.hasNonNull("racks")) {
                    topic.get("racks").get(number).forEach(rack -> replicas.add(node(rack, byRack)));
                }
                Node[] nodes = replicas.toArray(new Node[0]);
                Node leader = nodes.length == 0 ? Node.noNode() : nodes[0];
                partitions.add(new PartitionInfo(name, number, leader, nodes, nodes));
            }
        });
        return new Cluster("parity", new ArrayList<>(byRack.values()), partitions, Set.of(), Set.of());
    }

    private static Node node(JsonNode rack, Map<String, Node> byRack) {
        String name = rack.isNull() ? null : rack.asText();
        return byRack.computeIfAbsent(
            String.valueOf(name), __ -> new Node(byRack.size(), "broker" + byRack.size(), 9092, name));
    }

    private static Subscription subscription(JsonNode member) {
        List<String> topics = new ArrayList<>();
        member.get("topics").forEach(topic -> topics.add(topic.asText()));
        List<TopicPartition> owned = new ArrayList<>();
        member.get("owned").properties().forEach(field ->
            field.getValue().forEach(number -> owned.add(new TopicPartition(field.getKey(), number.asInt()))));
        ByteBuffer userData = member.get("user_data").isNull()
            ? null
            : ByteBuffer.wrap(HexFormat.of().parseHex(member.get("user_data").asText()));
        Subscription subscription = new Subscription(
            topics,
            userData,
            owned,
            member.get("generation").isNull() ? -1 : member.get("generation").asInt(),
            GroupDocuments.text(member.get("rack")).filter(rack -> !rack.isEmpty()));
        subscription.setGroupInstanceId(GroupDocuments.text(member.get("instance_id")));
        return subscription;
    }
}
