package assignorlab.shim;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.time.Instant;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.ApplicationState;
import org.apache.kafka.streams.processor.assignment.AssignmentConfigs;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment.AssignedTask;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsState;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.assignment.TaskAssignor.TaskAssignment;
import org.apache.kafka.streams.processor.assignment.TaskInfo;
import org.apache.kafka.streams.processor.assignment.TaskTopicPartition;

/** Scenario and result documents of the lab, as the page "Scenario and result files" describes them. */
final class Documents {
    private Documents() {}

    /**
     * The state as a scenario. Collections keep the order in which Kafka gives them: some of its assignors' answers
     * depend on it.
     *
     * @param racks {@code always}, {@code never}, or {@code auto}: where clients have racks; Kafka may have to ask
     *     brokers for those of partitions
     */
    static Map<String, Object> scenario(String id, String application, long timeMs, ApplicationState state, String racks) {
        Map<ProcessId, KafkaStreamsState> clients = state.kafkaStreamsStates(true);
        boolean withRacks = racks.equals("always")
            || racks.equals("auto") && clients.values().stream().anyMatch(each -> each.rackId().isPresent());
        Map<String, Object> source = new LinkedHashMap<>();
        source.put("time_ms", timeMs);
        source.put("group", application);
        List<Object> tasks = new ArrayList<>();
        for (TaskInfo task : state.allTasks().values()) {
            tasks.add(task(task, withRacks));
        }
        List<Object> told = new ArrayList<>();
        for (KafkaStreamsState client : clients.values()) {
            told.add(client(client));
        }
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("format", 1);
        document.put("kind", "streams");
        document.put("id", id);
        document.put("config", config(state.assignmentConfigs()));
        document.put("tasks", tasks);
        document.put("clients", told);
        document.put("source", source);
        return document;
    }

    private static Map<String, Object> config(AssignmentConfigs configs) {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("acceptable.recovery.lag", configs.acceptableRecoveryLag());
        told.put("max.warmup.replicas", configs.maxWarmupReplicas());
        told.put("num.standby.replicas", configs.numStandbyReplicas());
        told.put("probing.rebalance.interval.ms", configs.probingRebalanceIntervalMs());
        told.put("rack.aware.assignment.tags", configs.rackAwareAssignmentTags());
        told.put("rack.aware.assignment.strategy", configs.rackAwareAssignmentStrategy());
        told.put("rack.aware.assignment.traffic_cost", number(configs.rackAwareTrafficCost()));
        told.put("rack.aware.assignment.non_overlap_cost", number(configs.rackAwareNonOverlapCost()));
        return told;
    }

    private static Integer number(OptionalInt value) {
        return value.isPresent() ? value.getAsInt() : null;
    }

    private static Map<String, Object> task(TaskInfo task, boolean withRacks) {
        boolean isLogged = false;
        List<Object> partitions = new ArrayList<>();
        for (TaskTopicPartition each : task.topicPartitions()) {
            isLogged |= each.isChangelog();
            Map<String, Object> partition = new LinkedHashMap<>();
            partition.put("topic", each.topicPartition().topic());
            partition.put("partition", each.topicPartition().partition());
            partition.put("source", each.isSource());
            partition.put("changelog", each.isChangelog());
            partition.put("racks", withRacks ? each.rackIds().map(TreeSet::new).orElse(null) : null);
            partitions.add(partition);
        }
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("id", task.id().toString());
        told.put("stateful", task.isStateful());
        told.put("logged", isLogged);
        told.put("stores", new TreeSet<>(task.stateStoreNames()));
        told.put("partitions", partitions);
        return told;
    }

    private static Map<String, Object> client(KafkaStreamsState client) {
        Map<String, Object> lags = new LinkedHashMap<>();
        client.statefulTasksToLagSums().forEach((task, lag) -> lags.put(task.toString(), lag));
        Map<String, Object> reported = new LinkedHashMap<>();
        for (String consumer : client.consumerClientIds()) {
            reported.put(consumer, texts(client.prevTasksByLag(consumer)));
        }
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("process_id", client.processId().id().toString());
        told.put("rack", client.rackId().orElse(null));
        told.put("tags", client.clientTags());
        told.put("host", client.hostInfo().map(host -> host.host() + ":" + host.port()).orElse(null));
        told.put("threads", client.numProcessingThreads());
        told.put("consumers", client.consumerClientIds());
        told.put("previous_active", texts(client.previousActiveTasks()));
        told.put("previous_standby", texts(client.previousStandbyTasks()));
        told.put("lags", lags);
        told.put("previous_by_consumer", reported);
        return told;
    }

    private static List<String> texts(Collection<TaskId> tasks) {
        List<String> texts = new ArrayList<>(tasks.size());
        tasks.forEach(task -> texts.add(task.toString()));
        return texts;
    }

    // --- assignments ------------------------------------------------------------------------------

    /** An assignment as a result has it: process id to sorted active and standby tasks. */
    static Map<String, Object> assignment(TaskAssignment assignment) {
        Map<String, Object> told = new TreeMap<>();
        for (KafkaStreamsAssignment each : assignment.assignment()) {
            Set<TaskId> active = new TreeSet<>();
            Set<TaskId> standby = new TreeSet<>();
            each.tasks().values().forEach(
                task -> (task.type() == AssignedTask.Type.ACTIVE ? active : standby).add(task.id()));
            Map<String, Object> roles = new LinkedHashMap<>();
            roles.put("active", texts(active));
            roles.put("standby", texts(standby));
            told.put(each.processId().id().toString(), roles);
        }
        return told;
    }

    static boolean hasFollowup(TaskAssignment assignment) {
        return assignment.assignment().stream().anyMatch(each -> each.followupRebalanceDeadline().isPresent());
    }

    /**
     * The assignment in a result line.
     *
     * @throws Failure if the line says that the assignor failed, is another question's, or is none
     */
    static TaskAssignment assignmentIn(Object line, String id) throws Failure {
        try {
            Map<?, ?> result = (Map<?, ?>) line;
            if (!id.equals(result.get("id"))) {
                throw new Failure(Cause.NONSENSE, "the answer is to another question");
            }
            Map<?, ?> error = (Map<?, ?>) result.get("error");
            if (error != null) {
                throw new Failure(Cause.ASSIGNOR, error.get("type") + ": " + error.get("message"));
            }
            Map<?, ?> followups = result.get("followups") == null ? Map.of() : (Map<?, ?>) result.get("followups");
            List<KafkaStreamsAssignment> assignments = new ArrayList<>();
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) result.get("assignment")).entrySet()) {
                Map<?, ?> roles = (Map<?, ?>) entry.getValue();
                Set<AssignedTask> held = new HashSet<>();
                for (Object task : (List<?>) roles.get("active")) {
                    held.add(new AssignedTask(TaskId.parse((String) task), AssignedTask.Type.ACTIVE));
                }
                for (Object task : (List<?>) roles.get("standby")) {
                    held.add(new AssignedTask(TaskId.parse((String) task), AssignedTask.Type.STANDBY));
                }
                KafkaStreamsAssignment made =
                    KafkaStreamsAssignment.of(new ProcessId(UUID.fromString((String) entry.getKey())), held);
                Long deadline = (Long) followups.get(entry.getKey());
                assignments.add(
                    deadline == null ? made : made.withFollowupRebalance(Instant.ofEpochMilli(deadline)));
            }
            return new TaskAssignment(assignments);
        } catch (RuntimeException error) {
            // Whatever it holds in place of what belongs there: a cast, a parser or Kafka's own class refuses it.
            throw new Failure(Cause.NONSENSE, "what came is no result line: " + error);
        }
    }
}
