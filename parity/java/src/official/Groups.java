package official;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.coordinator.group.streams.assignor.AssignmentMemberSpec;
import org.apache.kafka.coordinator.group.streams.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.streams.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.streams.assignor.GroupSpecImpl;
import org.apache.kafka.coordinator.group.streams.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor;
import org.apache.kafka.coordinator.group.streams.assignor.TopologyDescriber;

/** Scenarios of kind {@code streams-group}: the group coordinator's sticky assignor. */
final class Groups {
    private Groups() {}

    /** A group that is ready to be assigned, as the coordinator builds it: members in a hash map, in the given order. */
    record Prepared(GroupSpec group, TopologyDescriber topology) {
        Prepared(JsonNode scenario) {
            this(specOf(scenario), new Described(scenario.get("subtopologies")));
        }

        GroupAssignment assigned() {
            return new StickyTaskAssignor().assign(group, topology);
        }
    }

    static Assignors.Call prepared(JsonNode scenario) {
        Prepared prepared = new Prepared(scenario);
        return () -> {
            prepared.assigned();
            return false;
        };
    }

    static ObjectNode row(ObjectMapper json, JsonNode scenario, String assignor) {
        ObjectNode row = json.createObjectNode();
        row.put("format", 1).put("kind", "streams-group").put("id", scenario.get("id").asText()).put("assignor", assignor);
        try {
            Map<String, MemberAssignment> members = new Prepared(scenario).assigned().members();
            ObjectNode fields = json.createObjectNode();
            scenario.get("members").forEach(member -> {
                String id = member.get("id").asText();
                MemberAssignment target = members.getOrDefault(id, MemberAssignment.empty());
                ObjectNode held = fields.putObject(id);
                put(held.putObject("active"), target.activeTasks());
                put(held.putObject("standby"), target.standbyTasks());
                put(held.putObject("warmup"), target.warmupTasks());
            });
            row.set("members", fields);
            return row.putNull("error");
        } catch (RuntimeException error) {
            row.putNull("members").putObject("error")
                .put("type", error.getClass().getName()).put("message", error.getMessage());
            return row;
        }
    }

    private static void put(ObjectNode fields, Map<String, Set<Integer>> tasks) {
        new TreeMap<>(tasks).forEach((subtopology, partitions) -> {
            if (!partitions.isEmpty()) {
                ArrayNode listed = fields.putArray(subtopology);
                new TreeSet<>(partitions).forEach(listed::add);
            }
        });
    }

    private static GroupSpec specOf(JsonNode scenario) {
        Map<String, AssignmentMemberSpec> members = new HashMap<>();
        scenario.get("members").forEach(member -> members.put(member.get("id").asText(), new AssignmentMemberSpec(
            text(member.get("instance_id")),
            text(member.get("rack")),
            tasks(member.get("active")),
            tasks(member.get("standby")),
            tasks(member.get("warmup")),
            member.get("process_id").asText(),
            texts(member.get("tags")),
            Map.of(),
            Map.of())));
        return new GroupSpecImpl(members, texts(scenario.get("config")));
    }

    private static Optional<String> text(JsonNode value) {
        return value.isNull() ? Optional.empty() : Optional.of(value.asText());
    }

    private static Map<String, String> texts(JsonNode fields) {
        Map<String, String> texts = new HashMap<>();
        fields.properties().forEach(field -> texts.put(field.getKey(), field.getValue().asText()));
        return texts;
    }

    private static Map<String, Set<Integer>> tasks(JsonNode fields) {
        Map<String, Set<Integer>> tasks = new HashMap<>();
        fields.properties().forEach(field -> {
            Set<Integer> partitions = tasks.computeIfAbsent(field.getKey(), key -> new HashSet<>());
            field.getValue().forEach(partition -> partitions.add(partition.asInt()));
        });
        return tasks;
    }

    /** The topology: sub-topologies sorted, and of two with one id the last. */
    private static final class Described implements TopologyDescriber {
        private record Subtopology(int tasks, boolean isStateful) {}

        private final TreeMap<String, Subtopology> subtopologies = new TreeMap<>();

        Described(JsonNode listed) {
            listed.forEach(each -> subtopologies.put(
                each.get("id").asText(), new Subtopology(each.get("tasks").asInt(), each.get("stateful").asBoolean())));
        }

        @Override
        public List<String> subtopologies() {
            return List.copyOf(subtopologies.keySet());
        }

        @Override
        public int maxNumInputPartitions(String id) {
            return known(id).tasks();
        }

        @Override
        public boolean isStateful(String id) {
            return known(id).isStateful();
        }

        private Subtopology known(String id) {
            Subtopology found = subtopologies.get(id);
            if (found == null) {
                throw new NoSuchElementException("no sub-topology " + id);
            }
            return found;
        }
    }
}
