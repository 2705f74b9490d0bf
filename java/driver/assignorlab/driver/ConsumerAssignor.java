package assignorlab.driver;

import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/** Asks a client-side assignor of consumer groups: a new one for each question, in the leader's place. */
final class ConsumerAssignor implements Main.Asked {
    private static final String STICKY = "org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor";
    private final Made made;

    ConsumerAssignor(Class<?> assignor) throws ReflectiveOperationException {
        made = new Made(assignor);
    }

    @Override
    public boolean observes() {
        return false;
    }

    @Override
    public Map<String, Object> answer(Map<String, Object> question) throws Exception {
        ConsumerPartitionAssignor assignor =
            (ConsumerPartitionAssignor) made.configured(Read.map(question.get("configs")));
        if (question.get("max_generation") != null) {
            remember(assignor, (int) Read.number(question.get("max_generation")));
        }
        // As the consumer reads the JoinGroup response: a hash map, filled in its order.
        Map<String, Subscription> members = new HashMap<>();
        for (Object item : Read.list(question.get("members"))) {
            List<Object> member = Read.list(item);
            members.put((String) member.get(0), subscription(member));
        }
        ConsumerPartitionAssignor.GroupAssignment answer =
            assignor.assign(cluster(Read.list(question.get("topics"))), new GroupSubscription(members));
        if (answer == null || answer.groupAssignment() == null) {
            return Map.of("invalid", "assign() returned null");
        }
        return document(answer.groupAssignment());
    }

    private static Map<String, Object> document(Map<String, Assignment> answer) {
        Map<String, Object> members = new LinkedHashMap<>();
        answer.forEach((member, assignment) -> {
            Map<String, Object> held = new LinkedHashMap<>();
            for (TopicPartition partition : assignment.partitions()) {
                Read.list(held.computeIfAbsent(partition.topic(), topic -> new ArrayList<>()))
                    .add((long) partition.partition());
            }
            members.put(member, held);
        });
        return Map.of("members", members);
    }

    private static Cluster cluster(List<Object> topics) {
        Map<String, Node> byRack = new HashMap<>();
        List<PartitionInfo> partitions = new ArrayList<>();
        for (Object item : topics) {
            List<Object> topic = Read.list(item);
            List<Object> racks = topic.get(2) == null ? List.of() : Read.list(topic.get(2));
            for (int number = 0; number < Read.number(topic.get(1)); number++) {
                List<Node> replicas = new ArrayList<>();
                if (number < racks.size()) {
                    Read.names(racks.get(number)).forEach(rack -> replicas.add(node(rack, byRack)));
                }
                Node[] nodes = replicas.toArray(new Node[0]);
                Node leader = nodes.length == 0 ? Node.noNode() : nodes[0];
                partitions.add(new PartitionInfo((String) topic.get(0), number, leader, nodes, nodes));
            }
        }
        return new Cluster("assignor-lab", new ArrayList<>(byRack.values()), partitions, Set.of(), Set.of());
    }

    /** One broker for each rack: assignors see the racks of replicas, and no more of their brokers. */
    private static Node node(String rack, Map<String, Node> byRack) {
        return byRack.computeIfAbsent(
            String.valueOf(rack), name -> new Node(byRack.size(), "broker" + byRack.size(), 9092, rack));
    }

    private static Subscription subscription(List<Object> member) {
        Subscription subscription = new Subscription(
            Read.names(member.get(1)),
            buffer((String) member.get(4)),
            Read.partitions(member.get(2)),
            (int) Read.number(member.get(3)),
            Optional.ofNullable((String) member.get(5)));
        subscription.setGroupInstanceId(Optional.ofNullable((String) member.get(6)));
        return subscription;
    }

    private static ByteBuffer buffer(String hexadecimal) {
        if (hexadecimal == null) {
            return null;
        }
        byte[] content = new byte[hexadecimal.length() / 2];
        for (int index = 0; index < content.length; index++) {
            content[index] = (byte) Integer.parseInt(hexadecimal.substring(2 * index, 2 * index + 2), 16);
        }
        return ByteBuffer.wrap(content);
    }

    /** The highest generation that Kafka's sticky assignor, or one that extends it, saw in earlier calls. */
    private static void remember(Object assignor, int generation) throws ReflectiveOperationException {
        for (Class<?> each = assignor.getClass(); each != null; each = each.getSuperclass()) {
            if (each.getName().equals(STICKY)) {
                Field field = each.getDeclaredField("maxGeneration");
                field.setAccessible(true);
                field.setInt(assignor, generation);
            }
        }
    }
}
