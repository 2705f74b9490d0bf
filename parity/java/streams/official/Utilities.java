package official;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.TreeSet;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment.AssignedTask;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.assignment.TaskAssignmentUtils;
import org.apache.kafka.streams.processor.assignment.TaskAssignmentUtils.RackAwareOptimizationParams;
import org.apache.kafka.streams.processor.assignment.TaskAssignor.TaskAssignment;

/** One call of one of the public {@link TaskAssignmentUtils}, on the assignment that the scenario carries. */
final class Utilities {
    private Utilities() {}

    /**
     * What came of a call.
     *
     * @param assignment the map of assignments after the call
     * @param validation what the validation found, null after any other call
     */
    record Outcome(Map<ProcessId, KafkaStreamsAssignment> assignment, String validation) {}

    static Outcome call(String operation, JsonNode scenario, PublicState state) {
        if (operation.equals("identity")) {
            return new Outcome(TaskAssignmentUtils.identityAssignment(state), null);
        }
        Map<ProcessId, KafkaStreamsAssignment> assignment = given(scenario);
        switch (operation) {
            case "validate" -> {
                TaskAssignment whole = new TaskAssignment(assignment.values());
                return new Outcome(assignment, TaskAssignmentUtils.validateTaskAssignment(state, whole).name());
            }
            case "default_standby" -> TaskAssignmentUtils.defaultStandbyTaskAssignment(state, assignment);
            case "optimize_active" ->
                TaskAssignmentUtils.optimizeRackAwareActiveTasks(params(scenario.get("params"), state), assignment);
            case "optimize_standby" ->
                TaskAssignmentUtils.optimizeRackAwareStandbyTasks(params(scenario.get("params"), state), assignment);
            default -> throw new UnsupportedOperationException("no utility is called " + operation);
        }
        return new Outcome(assignment, null);
    }

    /** The scenario's own assignment, filled in the order of the document, actives first. */
    static Map<ProcessId, KafkaStreamsAssignment> given(JsonNode scenario) {
        Map<ProcessId, KafkaStreamsAssignment> assignment = new HashMap<>();
        scenario.get("assignment").properties().forEach(client -> {
            ProcessId process = GroupState.processId(client.getKey());
            LinkedHashSet<AssignedTask> tasks = new LinkedHashSet<>();
            for (TaskId task : GroupState.taskIds(client.getValue().get("active"))) {
                tasks.add(new AssignedTask(task, AssignedTask.Type.ACTIVE));
            }
            for (TaskId task : GroupState.taskIds(client.getValue().get("standby"))) {
                tasks.add(new AssignedTask(task, AssignedTask.Type.STANDBY));
            }
            assignment.put(process, KafkaStreamsAssignment.of(process, tasks));
        });
        return assignment;
    }

    private static RackAwareOptimizationParams params(JsonNode given, PublicState state) {
        RackAwareOptimizationParams params = RackAwareOptimizationParams.of(state);
        JsonNode tasks = given.get("tasks");
        if (tasks.isArray()) {
            params = params.forTasks(new TreeSet<>(GroupState.taskIds(tasks)));
        } else if (tasks.asText().equals("stateful")) {
            params = params.forStatefulTasks();
        } else if (tasks.asText().equals("stateless")) {
            params = params.forStatelessTasks();
        }
        if (given.hasNonNull("traffic_cost")) {
            params = params.withTrafficCostOverride(given.get("traffic_cost").asInt());
        }
        if (given.hasNonNull("non_overlap_cost")) {
            params = params.withNonOverlapCostOverride(given.get("non_overlap_cost").asInt());
        }
        return params;
    }
}
