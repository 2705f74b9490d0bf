package official;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment.AssignedTask.Type;
import org.apache.kafka.streams.processor.assignment.ProcessId;

/** What the classes of Kafka Streams answer: assignors, utilities, and the distribution over threads. */
final class StreamsAnswers {
    private StreamsAnswers() {}

    static ObjectNode row(ObjectMapper json, JsonNode request, String assignor) {
        JsonNode scenario = request.get("scenario");
        ObjectNode row = json.createObjectNode();
        row.put("format", 1).put("kind", "streams").put("id", scenario.get("id").asText()).put("assignor", assignor);
        ObjectNode fields = json.createObjectNode();
        try {
            if (assignor.startsWith("utils.")) {
                utility(assignor.substring("utils.".length()), scenario, fields);
            } else if (assignor.equals("threads")) {
                threads(scenario, fields);
            } else {
                assignor(assignor, scenario, request.path("threads").asBoolean(), fields);
            }
        } catch (RuntimeException error) {
            fields = json.createObjectNode();
            fields.putNull("assignment").putNull("followup").putNull("threads").putObject("error")
                .put("type", error.getClass().getSimpleName()).put("message", error.getMessage());
        }
        return row.setAll(fields);
    }

    static long[] nanoseconds(String assignor, JsonNode scenario) {
        Assignors.Call call = Assignors.prepared(assignor, scenario, new GroupState(scenario));
        return Answering.nanoseconds(call::run);
    }

    private static void assignor(String name, JsonNode scenario, boolean withThreads, ObjectNode fields) {
        GroupState group = new GroupState(scenario);
        boolean followup = Assignors.prepared(name, scenario, group).run();
        ObjectNode assignment = fields.putObject("assignment");
        for (ProcessId process : group.listedProcesses) {
            add(assignment, process, group.clients.get(process).activeTasks(), group.clients.get(process).standbyTasks());
        }
        fields.put("followup", followup);
        if (withThreads) {
            Threads.spread(group, fields.putObject("threads"));
        } else {
            fields.putNull("threads");
        }
        fields.putNull("error");
    }

    private static void threads(JsonNode scenario, ObjectNode fields) {
        GroupState group = new GroupState(scenario);
        Threads.handOver(scenario, group);
        fields.set("assignment", placement(group, Utilities.given(scenario), fields));
        fields.putNull("followup");
        Threads.spread(group, fields.putObject("threads"));
        fields.putNull("error");
    }

    private static void utility(String operation, JsonNode scenario, ObjectNode fields) {
        GroupState group = new GroupState(scenario);
        Utilities.Outcome outcome = Utilities.call(operation, scenario, new PublicState(group));
        fields.set("assignment", placement(group, outcome.assignment(), fields));
        fields.put("followup", false).putNull("threads").putNull("error");
        if (outcome.validation() != null) {
            fields.put("validation", outcome.validation());
        }
    }

    private static ObjectNode placement(
        GroupState group, Map<ProcessId, KafkaStreamsAssignment> assignment, ObjectNode factory) {
        Map<ProcessId, KafkaStreamsAssignment> ordered = new LinkedHashMap<>();
        group.listedProcesses.forEach(process -> ordered.put(process, assignment.get(process)));
        assignment.forEach(ordered::putIfAbsent);
        ObjectNode placement = factory.objectNode();
        ordered.forEach((process, held) -> {
            TreeSet<TaskId> active = new TreeSet<>();
            TreeSet<TaskId> standby = new TreeSet<>();
            if (held != null) {
                held.tasks().values().forEach(task -> (task.type() == Type.ACTIVE ? active : standby).add(task.id()));
            }
            add(placement, process, active, standby);
        });
        return placement;
    }

    private static void add(ObjectNode placement, ProcessId process, Collection<TaskId> active, Collection<TaskId> standby) {
        ObjectNode tasks = placement.putObject(process.toString());
        add(tasks.putArray("active"), active);
        add(tasks.putArray("standby"), standby);
    }

    private static void add(ArrayNode texts, Collection<TaskId> tasks) {
        new TreeSet<>(tasks).forEach(task -> texts.add(task.toString()));
    }
}
