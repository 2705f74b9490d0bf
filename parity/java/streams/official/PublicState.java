package official;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.ApplicationState;
import org.apache.kafka.streams.processor.assignment.AssignmentConfigs;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsState;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.assignment.TaskInfo;
import org.apache.kafka.streams.processor.assignment.TaskTopicPartition;
import org.apache.kafka.streams.processor.internals.assignment.DefaultKafkaStreamsState;
import org.apache.kafka.streams.processor.internals.assignment.DefaultTaskTopicPartition;
import org.apache.kafka.streams.state.HostInfo;

/**
 * What a public assignor (KIP-924) is shown. Differs from Kafka's own class in one point: a task's description has the
 * hash, equality and order of its id. Kafka's has the hash of its address, so that orders change from run to run.
 */
final class PublicState implements ApplicationState {
    private final GroupState group;
    private final Map<TaskId, TaskInfo> tasks = new HashMap<>();

    PublicState(GroupState group) {
        this.group = group;
        group.listedTasks.forEach(task -> tasks.put(task, Task.of(task, group.taskDocuments.get(task))));
    }

    @Override
    public Map<ProcessId, KafkaStreamsState> kafkaStreamsStates(boolean computeTaskLags) {
        Map<ProcessId, KafkaStreamsState> states = new HashMap<>();
        // Kafka fills this map in the order of another map of the clients, not in the order in which they came.
        group.clients.forEach((process, client) -> {
            JsonNode document = group.clientDocuments.get(process);
            states.put(process, new DefaultKafkaStreamsState(
                process,
                client.capacity(),
                client.clientTags(),
                client.previousActiveTasks(),
                client.previousStandbyTasks(),
                client.taskIdsByPreviousConsumer(),
                GroupState.text(document.get("host")).map(HostInfo::buildFromEndpoint),
                computeTaskLags ? Optional.of(client.taskLagTotals()) : Optional.empty(),
                GroupState.rack(document)));
        });
        return Collections.unmodifiableMap(states);
    }

    @Override
    public AssignmentConfigs assignmentConfigs() {
        return group.configs;
    }

    @Override
    public Map<TaskId, TaskInfo> allTasks() {
        return tasks;
    }

    private record Task(TaskId id, boolean isStateful, Set<String> stateStoreNames, Set<TaskTopicPartition> topicPartitions)
        implements TaskInfo, Comparable<Task> {

        static Task of(TaskId id, JsonNode document) {
            Set<String> stores = new HashSet<>();
            document.get("stores").forEach(store -> stores.add(store.asText()));
            Set<TaskTopicPartition> partitions = new HashSet<>();
            for (JsonNode partition : document.get("partitions")) {
                DefaultTaskTopicPartition described = new DefaultTaskTopicPartition(
                    GroupState.topicPartition(partition),
                    partition.get("source").asBoolean(),
                    partition.get("changelog").asBoolean(),
                    () -> { });
                Set<String> racks = new HashSet<>();
                partition.get("racks").forEach(rack -> racks.add(rack.asText()));
                described.annotateWithRackIds(racks);
                partitions.add(described);
            }
            return new Task(id, document.get("stateful").asBoolean(), stores, partitions);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Task task && id.equals(task.id);
        }

        @Override
        public int hashCode() {
            return id.hashCode();
        }

        @Override
        public int compareTo(Task other) {
            return id.compareTo(other.id);
        }
    }
}
