package official;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.internals.StreamsPartitionAssignor;
import org.apache.kafka.streams.processor.internals.assignment.ClientState;

/** The spread of every client's tasks over its consumers: the three calls that the partition assignor makes. */
final class Threads {
    private static final Method SPREAD = spread();

    private Threads() {}

    /** Puts the scenario's own assignment into the clients, as an internal or as a public assignor would have. */
    static void handOver(JsonNode scenario, GroupState group) {
        boolean sorted = scenario.get("params").get("via").asText().equals("legacy");
        for (Map.Entry<ProcessId, KafkaStreamsAssignment> given : Utilities.given(scenario).entrySet()) {
            ClientState client = group.clients.get(given.getKey());
            if (sorted) {
                JsonNode tasks = scenario.get("assignment").get(given.getKey().toString());
                GroupState.taskIds(tasks.get("active")).forEach(client::assignActive);
                GroupState.taskIds(tasks.get("standby")).forEach(client::assignStandby);
            } else {
                client.setAssignedTasks(given.getValue());
            }
        }
    }

    static ObjectNode spread(GroupState group, ObjectNode empty) {
        for (ProcessId process : group.listedProcesses) {
            SortedSet<String> consumers = GroupState.consumers(group.clientDocuments.get(process));
            if (consumers.isEmpty()) {
                continue;
            }
            ClientState client = group.clients.get(process);
            Map<String, Integer> loads = new HashMap<>();
            Map<String, List<TaskId>> stateful = spread(client.statefulActiveTasks(), true, consumers, client, loads);
            Map<String, List<TaskId>> standby = spread(client.standbyTasks(), true, consumers, client, loads);
            Map<String, List<TaskId>> stateless = spread(client.statelessActiveTasks(), false, consumers, client, loads);
            for (String consumer : consumers) {
                TreeSet<TaskId> active = new TreeSet<>(stateful.get(consumer));
                active.addAll(stateless.get(consumer));
                ObjectNode tasks = empty.putObject(consumer);
                add(tasks.putArray("active"), active);
                add(tasks.putArray("standby"), new TreeSet<>(standby.get(consumer)));
            }
        }
        return empty;
    }

    private static void add(ArrayNode texts, Collection<TaskId> tasks) {
        tasks.forEach(task -> texts.add(task.toString()));
    }

    @SuppressWarnings("unchecked")
    private static Map<String, List<TaskId>> spread(
        Collection<TaskId> tasks, boolean stateful, SortedSet<String> consumers, ClientState client, Map<String, Integer> loads) {
        try {
            return (Map<String, List<TaskId>>) SPREAD.invoke(null, tasks, stateful, consumers, client, loads);
        } catch (InvocationTargetException error) {
            if (error.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(error.getCause());
        } catch (IllegalAccessException error) {
            throw new IllegalStateException(error);
        }
    }

    /** The method is visible in its own package only. */
    private static Method spread() {
        for (Method method : StreamsPartitionAssignor.class.getDeclaredMethods()) {
            if (method.getName().equals("assignTasksToThreads")) {
                method.setAccessible(true);
                return method;
            }
        }
        throw new IllegalStateException("this kafka-streams spreads tasks over threads in another way");
    }
}
