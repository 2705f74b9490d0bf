package assignorlab.driver;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.ApplicationState;
import org.apache.kafka.streams.processor.assignment.AssignmentConfigs;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsState;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.assignment.TaskInfo;

/**
 * What an assignor is shown, in the hash orders in which Kafka shows it. It is made anew for each question: whatever an
 * assignor does to it, the next one is shown something else.
 */
final class State implements ApplicationState {
    private final AssignmentConfigs configs;
    private final Map<TaskId, TaskInfo> tasks = new HashMap<>();
    private final Map<ProcessId, KafkaStreamsState> withLags;
    private final Map<ProcessId, KafkaStreamsState> withoutLags;

    State(List<Task> tasks, TaskId[] ids, Map<String, Object> question) {
        configs = Read.configs(Read.list(question.get("config")));
        tasks.forEach(task -> this.tasks.put(task.id(), task));
        // Kafka fills its map in the order of another map of the clients, not in the order in which they came.
        Map<ProcessId, Client> clients = new HashMap<>();
        for (Object given : Read.list(question.get("clients"))) {
            Client client = new Client(Read.list(given), tasks, ids);
            clients.put(client.processId(), client);
        }
        Map<ProcessId, KafkaStreamsState> open = new HashMap<>();
        Map<ProcessId, KafkaStreamsState> closed = new HashMap<>();
        clients.forEach((process, client) -> {
            open.put(process, client);
            closed.put(process, client.withoutLags());
        });
        withLags = Collections.unmodifiableMap(open);
        withoutLags = Collections.unmodifiableMap(closed);
    }

    @Override
    public Map<ProcessId, KafkaStreamsState> kafkaStreamsStates(boolean computeTaskLags) {
        return computeTaskLags ? withLags : withoutLags;
    }

    @Override
    public AssignmentConfigs assignmentConfigs() {
        return configs;
    }

    @Override
    public Map<TaskId, TaskInfo> allTasks() {
        return tasks;
    }
}
