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
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Scenarios and result rows of kind {@code streams-group}, but for the classes that each release has of its own. Members
 * enter a hash map in the order of the document, as the coordinator fills it.
 */
final class GroupDocuments {
    private GroupDocuments() {}

    /** What one member got. */
    record Given(Map<String, Set<Integer>> active, Map<String, Set<Integer>> standby, Map<String, Set<Integer>> warmup) {
        static final Given NOTHING = new Given(Map.of(), Map.of(), Map.of());
    }

    /** The row of an answer, which tells what a member got, or of the exception in place of one. */
    static ObjectNode row(
        ObjectMapper json, JsonNode scenario, String assignor, Supplier<Function<String, Given>> answer) {
        ObjectNode row = json.createObjectNode();
        row.put("format", 1).put("kind", "streams-group").put("id", scenario.get("id").asText()).put("assignor", assignor);
        try {
            Function<String, Given> given = answer.get();
            ObjectNode fields = json.createObjectNode();
            scenario.get("members").forEach(member -> {
                String id = member.get("id").asText();
                Given tasks = given.apply(id);
                ObjectNode held = fields.putObject(id);
                put(held.putObject("active"), tasks.active());
                put(held.putObject("standby"), tasks.standby());
                put(held.putObject("warmup"), tasks.warmup());
            });
            row.set("members", fields);
            return row.putNull("error");
        } catch (RuntimeException error) {
            row.putNull("members").putObject("error")
                .put("type", error.getClass().getName()).put("message", error.getMessage());
            return row;
        }
    }

    /** Sub-topology to partitions, both sorted, without empty ones. */
    static void put(ObjectNode fields, Map<String, Set<Integer>> tasks) {
        new TreeMap<>(tasks).forEach((subtopology, partitions) -> {
            if (!partitions.isEmpty()) {
                ArrayNode listed = fields.putArray(subtopology);
                new TreeSet<>(partitions).forEach(listed::add);
            }
        });
    }

    /** Member id to what {@code make} makes of its document. */
    static <M> Map<String, M> members(JsonNode scenario, Function<JsonNode, M> make) {
        Map<String, M> members = new HashMap<>();
        scenario.get("members").forEach(member -> members.put(member.get("id").asText(), make.apply(member)));
        return members;
    }

    static Optional<String> text(JsonNode value) {
        return value.isNull() ? Optional.empty() : Optional.of(value.asText());
    }

    /** Keys to texts; a list becomes its entries with commas between them, as the coordinator stores it. */
    static Map<String, String> texts(JsonNode fields) {
        Map<String, String> texts = new HashMap<>();
        fields.properties().forEach(field -> texts.put(field.getKey(), listedText(field.getValue())));
        return texts;
    }

    private static String listedText(JsonNode value) {
        if (!value.isArray()) {
            return value.asText();
        }
        StringBuilder joined = new StringBuilder();
        value.forEach(each -> joined.append(joined.isEmpty() ? "" : ",").append(each.asText()));
        return joined.toString();
    }

    static Map<String, Set<Integer>> tasks(JsonNode fields) {
        Map<String, Set<Integer>> tasks = new HashMap<>();
        fields.properties().forEach(field -> {
            Set<Integer> partitions = tasks.computeIfAbsent(field.getKey(), key -> new HashSet<>());
            field.getValue().forEach(partition -> partitions.add(partition.asInt()));
        });
        return tasks;
    }

    static Map<String, Map<Integer, Long>> offsets(JsonNode fields) {
        Map<String, Map<Integer, Long>> offsets = new HashMap<>();
        fields.properties().forEach(field -> {
            Map<Integer, Long> partitions = offsets.computeIfAbsent(field.getKey(), key -> new HashMap<>());
            field.getValue().properties().forEach(
                each -> partitions.put(Integer.valueOf(each.getKey()), each.getValue().asLong()));
        });
        return offsets;
    }

    /** A topology: sub-topologies sorted, and of two with one id the last. */
    static class Topology {
        private record Subtopology(int tasks, boolean isStateful) {}

        private final TreeMap<String, Subtopology> subtopologies = new TreeMap<>();

        Topology(JsonNode scenario) {
            scenario.get("subtopologies").forEach(each -> subtopologies.put(
                each.get("id").asText(), new Subtopology(each.get("tasks").asInt(), each.get("stateful").asBoolean())));
        }

        public List<String> subtopologies() {
            return List.copyOf(subtopologies.keySet());
        }

        public int maxNumInputPartitions(String id) {
            return known(id).tasks();
        }

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
