package assignorlab.shim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.ApplicationState;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment.AssignedTask;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsState;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.assignment.TaskAssignor.TaskAssignment;
import org.apache.kafka.streams.processor.assignment.TaskInfo;
import org.apache.kafka.streams.processor.assignment.assignors.StickyTaskAssignor;

/** Who decides where the assignor does not. */
final class Fallbacks {
    private Fallbacks() {}

    static TaskAssignment decide(String name, ApplicationState state) {
        return name.equals("sticky") ? new StickyTaskAssignor().assign(state) : previous(state);
    }

    /**
     * Leaves every task where it was. A task that nobody had goes to who has a copy of it, else to who has the fewest
     * tasks for its threads; of two who say that they had it the first keeps it.
     */
    static TaskAssignment previous(ApplicationState state) {
        Map<ProcessId, KafkaStreamsState> clients = state.kafkaStreamsStates(false);
        Map<TaskId, TaskInfo> tasks = state.allTasks();
        Map<ProcessId, Set<TaskId>> active = new HashMap<>();
        Map<ProcessId, Set<TaskId>> standby = new HashMap<>();
        Set<TaskId> open = new TreeSet<>(tasks.keySet());
        TreeSet<ProcessId> ordered = new TreeSet<>(clients.keySet());
        for (ProcessId client : ordered) {
            Set<TaskId> kept = new HashSet<>();
            for (TaskId task : clients.get(client).previousActiveTasks()) {
                if (open.remove(task)) {
                    kept.add(task);
                }
            }
            active.put(client, kept);
            Set<TaskId> copies = new HashSet<>();
            for (TaskId task : clients.get(client).previousStandbyTasks()) {
                TaskInfo info = tasks.get(task);
                if (info != null && info.isStateful() && !kept.contains(task)) {
                    copies.add(task);
                }
            }
            standby.put(client, copies);
        }
        for (TaskId task : open) {
            ProcessId chosen = null;
            for (ProcessId client : ordered) {
                if (chosen == null || isBetter(task, client, chosen, clients, active, standby)) {
                    chosen = client;
                }
            }
            if (chosen != null) {
                standby.get(chosen).remove(task);
                active.get(chosen).add(task);
            }
        }
        List<KafkaStreamsAssignment> assignments = new ArrayList<>();
        for (ProcessId client : ordered) {
            Set<AssignedTask> held = new HashSet<>();
            active.get(client).forEach(task -> held.add(new AssignedTask(task, AssignedTask.Type.ACTIVE)));
            standby.get(client).forEach(task -> held.add(new AssignedTask(task, AssignedTask.Type.STANDBY)));
            assignments.add(KafkaStreamsAssignment.of(client, held));
        }
        return new TaskAssignment(assignments);
    }

    private static boolean isBetter(
            TaskId task, ProcessId client, ProcessId other, Map<ProcessId, KafkaStreamsState> clients,
            Map<ProcessId, Set<TaskId>> active, Map<ProcessId, Set<TaskId>> standby) {
        boolean has = standby.get(client).contains(task);
        if (has != standby.get(other).contains(task)) {
            return has;
        }
        long mine = (long) active.get(client).size() * Math.max(clients.get(other).numProcessingThreads(), 1);
        long theirs = (long) active.get(other).size() * Math.max(clients.get(client).numProcessingThreads(), 1);
        return mine < theirs;
    }
}
