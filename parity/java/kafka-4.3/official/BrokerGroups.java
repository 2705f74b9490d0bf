package official;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;
import org.apache.kafka.coordinator.group.modern.ModernGroup;
import org.apache.kafka.coordinator.group.modern.SubscriptionCount;
import org.apache.kafka.coordinator.group.modern.TopicIds;
import org.apache.kafka.coordinator.group.modern.UnionSet;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;

/**
 * Scenarios of kinds {@code consumer-group} and {@code share-group}: the group coordinator's assignors. Everything
 * enters its collection in the order of the document, and comes out in the order of the answer's maps and sets.
 */
final class BrokerGroups {
    private final JsonNode scenario;
    private final GroupSpec group;
    private final Topics topics;

    BrokerGroups(JsonNode scenario) {
        this.scenario = scenario;
        topics = new Topics(scenario.get("topics"));
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
        for (JsonNode member : scenario.get("members")) {
            String id = member.get("id").asText();
            Map<Uuid, Set<Integer>> held = partitions(member.get("assigned"));
            held.forEach((topic, partitions) ->
                partitions.forEach(partition -> inverted.computeIfAbsent(topic, __ -> new HashMap<>()).put(partition, id)));
            members.put(id, new MemberSubscriptionAndAssignmentImpl(
                GroupDocuments.text(member.get("rack")),
                GroupDocuments.text(member.get("instance_id")),
                new TopicIds(subscribed(member), topics),
                new Assignment(held)));
        }
        JsonNode assignable = scenario.path("assignable");
        group = new GroupSpecImpl(
            Collections.unmodifiableMap(members),
            subscriptionType(),
            inverted,
            assignable.isObject() ? Optional.of(partitions(assignable)) : Optional.empty());
    }

    GroupAssignment assigned(String assignor) {
        return assignor(assignor).assign(group, topics);
    }

    static ObjectNode row(ObjectMapper json, JsonNode scenario, String assignor) {
        ObjectNode row = json.createObjectNode();
        row.put("format", 1).put("kind", scenario.get("kind").asText())
            .put("id", scenario.get("id").asText()).put("assignor", assignor);
        try {
            Map<String, MemberAssignment> targets = new BrokerGroups(scenario).assigned(assignor).members();
            ObjectNode fields = json.createObjectNode();
            scenario.get("members").forEach(member -> {
                String id = member.get("id").asText();
                ObjectNode held = fields.putObject(id);
                if (targets.containsKey(id)) {
                    put(held, targets.get(id).partitions());
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

    private static PartitionAssignor assignor(String name) {
        return switch (name) {
            case "consumer_group_uniform" -> new UniformAssignor();
            case "consumer_group_range" -> new RangeAssignor();
            case "share_simple" -> new SimpleAssignor();
            default -> throw new IllegalArgumentException("unknown assignor " + name);
        };
    }

    private Set<String> subscribed(JsonNode member) {
        Set<String> names = names(member.get("topics"));
        JsonNode resolved = scenario.path("regexes").path(member.path("regex").asText(""));
        if (!resolved.isArray() || resolved.isEmpty()) {
            return names;
        }
        return names.isEmpty() ? names(resolved) : new UnionSet<>(names, names(resolved));
    }

    private SubscriptionType subscriptionType() {
        Map<String, SubscriptionCount> byName = new HashMap<>();
        Map<String, Integer> byRegex = new HashMap<>();
        int members = 0;
        for (JsonNode member : scenario.get("members")) {
            members += 1;
            names(member.get("topics")).forEach(name -> byName.compute(name, SubscriptionCount::incNameCount));
            String regex = member.path("regex").asText("");
            if (member.hasNonNull("regex") && !regex.isEmpty()) {
                byRegex.merge(regex, 1, Integer::sum);
            }
        }
        // Kafka counts the expressions that match a topic, not their members.
        byRegex.keySet().forEach(regex -> names(scenario.path("regexes").path(regex))
            .forEach(name -> byName.compute(name, SubscriptionCount::incRegexCount)));
        return scenario.get("kind").asText().equals("share-group")
            ? ModernGroup.subscriptionType(byName, members)
            : ConsumerGroup.subscriptionType(byRegex, byName, members);
    }

    private static Set<String> names(JsonNode texts) {
        List<String> listed = new ArrayList<>();
        texts.forEach(text -> listed.add(text.asText()));
        return new HashSet<>(listed);
    }

    private static Map<Uuid, Set<Integer>> partitions(JsonNode fields) {
        Map<Uuid, Set<Integer>> found = new HashMap<>();
        fields.properties().forEach(field -> {
            List<Integer> listed = new ArrayList<>();
            field.getValue().forEach(partition -> listed.add(partition.asInt()));
            found.put(Uuid.fromString(field.getKey()), new HashSet<>(listed));
        });
        return found;
    }

    private static void put(ObjectNode fields, Map<Uuid, Set<Integer>> partitions) {
        partitions.forEach((topic, numbers) -> {
            if (!numbers.isEmpty()) {
                ArrayNode listed = fields.putArray(topic.toString());
                numbers.forEach(listed::add);
            }
        });
    }

    /** The cluster's topics, as the coordinator's metadata image describes them. */
    private static final class Topics implements TopicIds.TopicResolver, SubscribedTopicDescriber {
        private final Map<String, Uuid> ids = new HashMap<>();
        private final Map<Uuid, String> names = new HashMap<>();
        private final Map<Uuid, Integer> partitions = new HashMap<>();

        Topics(JsonNode topics) {
            topics.forEach(topic -> {
                Uuid id = Uuid.fromString(topic.get("id").asText());
                ids.put(topic.get("name").asText(), id);
                names.put(id, topic.get("name").asText());
                if (topic.hasNonNull("partitions")) {
                    partitions.put(id, topic.get("partitions").asInt());
                }
            });
        }

        @Override
        public CoordinatorMetadataImage image() {
            throw new UnsupportedOperationException("no assignor reads the image");
        }

        @Override
        public String name(Uuid id) {
            return names.get(id);
        }

        @Override
        public Uuid id(String name) {
            return ids.get(name);
        }

        @Override
        public void clear() {}

        @Override
        public int numPartitions(Uuid topic) {
            return partitions.getOrDefault(topic, -1);
        }

        @Override
        public Set<String> racksForPartition(Uuid topic, int partition) {
            return Set.of();
        }
    }
}
