package official;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import org.apache.kafka.coordinator.group.streams.CurrentAssignmentBuilder;
import org.apache.kafka.coordinator.group.streams.MemberState;
import org.apache.kafka.coordinator.group.streams.StreamsGroupMember;
import org.apache.kafka.coordinator.group.streams.TasksTuple;
import org.apache.kafka.coordinator.group.streams.TasksTupleWithEpochs;

/**
 * Documents of kind {@code streams-reconciliation}: the step of the group coordinator that brings one member of a streams
 * group nearer to its target. Who holds which task is told by the documents of all members, as the coordinator keeps it:
 * what a member has to give back is still held, and of holders the processes alone are known.
 */
final class Reconciliations {
    /** The epoch in which a member's active tasks were given to it: nothing that is compared depends on it. */
    private static final int GIVEN = 1;

    private Reconciliations() {}

    static ObjectNode row(ObjectMapper json, JsonNode scenario, String asked) {
        ObjectNode row = json.createObjectNode();
        row.put("kind", scenario.get("kind").asText()).put("id", scenario.get("id").asText()).put("assignor", asked);
        try {
            StreamsGroupMember after = reconciled(scenario);
            ObjectNode fields = json.createObjectNode();
            fields.put("state", after.state().name()).put("epoch", after.memberEpoch());
            put(fields.putObject("assigned"), after.assignedTasks());
            put(fields.putObject("pending"), after.tasksPendingRevocation());
            row.set("member", fields);
            return row.putNull("error");
        } catch (RuntimeException error) {
            row.putNull("member").putObject("error")
                .put("type", error.getClass().getSimpleName()).put("message", error.getMessage());
            return row;
        }
    }

    private static StreamsGroupMember reconciled(JsonNode scenario) {
        JsonNode member = scenario.get("member");
        JsonNode owned = scenario.get("owned");
        Holders holders = new Holders(scenario);
        return new CurrentAssignmentBuilder(member(member))
            .withTargetAssignment(scenario.get("target_epoch").asInt(), tasks(scenario.get("target")))
            .withCurrentActiveTaskProcessId(holders.active())
            .withCurrentStandbyTaskProcessIds(holders.copies("standby"))
            .withCurrentWarmupTaskProcessIds(holders.copies("warmup"))
            .withOwnedAssignment(owned.isNull() ? null : tasks(owned))
            .build();
    }

    private static StreamsGroupMember member(JsonNode member) {
        int epoch = member.get("epoch").asInt();
        return new StreamsGroupMember.Builder(member.get("id").asText())
            .setProcessId(member.get("process_id").asText())
            .setState(MemberState.valueOf(member.get("state").asText()))
            .setMemberEpoch(epoch)
            .setPreviousMemberEpoch(epoch)
            .setAssignedTasks(tasksWithEpochs(member.get("assigned")))
            .setTasksPendingRevocation(tasksWithEpochs(member.get("pending")))
            .build();
    }

    private static TasksTuple tasks(JsonNode held) {
        return new TasksTuple(
            GroupDocuments.tasks(held.get("active")),
            GroupDocuments.tasks(held.get("standby")),
            GroupDocuments.tasks(held.get("warmup")));
    }

    private static TasksTupleWithEpochs tasksWithEpochs(JsonNode held) {
        TasksTuple tasks = tasks(held);
        Map<String, Map<Integer, Integer>> active = new HashMap<>();
        tasks.activeTasks().forEach((subtopology, partitions) -> {
            Map<Integer, Integer> epochs = active.computeIfAbsent(subtopology, key -> new HashMap<>());
            partitions.forEach(partition -> epochs.put(partition, GIVEN));
        });
        return new TasksTupleWithEpochs(active, tasks.standbyTasks(), tasks.warmupTasks());
    }

    private static void put(ObjectNode held, TasksTupleWithEpochs tasks) {
        Map<String, Set<Integer>> active = new HashMap<>();
        tasks.activeTasksWithEpochs().forEach((subtopology, epochs) -> active.put(subtopology, epochs.keySet()));
        GroupDocuments.put(held.putObject("active"), active);
        GroupDocuments.put(held.putObject("standby"), tasks.standbyTasks());
        GroupDocuments.put(held.putObject("warmup"), tasks.warmupTasks());
    }

    /** The processes of those who hold a task, by role. */
    private static final class Holders {
        private record Task(String role, String subtopology, int partition) {}

        private final Map<Task, Set<String>> processes = new HashMap<>();

        Holders(JsonNode scenario) {
            JsonNode member = scenario.get("member");
            String process = member.get("process_id").asText();
            add(process, member.get("assigned"));
            add(process, member.get("pending"));
            scenario.get("others").forEach(other -> add(other.get("process_id").asText(), other.get("held")));
        }

        /** The process of the one member that has an active task, or null. */
        BiFunction<String, Integer, String> active() {
            return (subtopology, partition) -> of("active", subtopology, partition).stream().findAny().orElse(null);
        }

        BiFunction<String, Integer, Set<String>> copies(String role) {
            return (subtopology, partition) -> of(role, subtopology, partition);
        }

        private Set<String> of(String role, String subtopology, int partition) {
            return processes.getOrDefault(new Task(role, subtopology, partition), Set.of());
        }

        private void add(String process, JsonNode held) {
            held.properties().forEach(role -> GroupDocuments.tasks(role.getValue()).forEach(
                (subtopology, partitions) -> partitions.forEach(partition -> processes
                    .computeIfAbsent(new Task(role.getKey(), subtopology, partition), key -> new HashSet<>())
                    .add(process))));
        }
    }
}
