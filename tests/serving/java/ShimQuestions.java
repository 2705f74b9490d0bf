import assignorlab.shim.AssignorLabTaskAssignor;
import assignorlab.wire.Json;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;
import javax.management.ObjectName;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.ApplicationState;
import org.apache.kafka.streams.processor.assignment.AssignmentConfigs;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment.AssignedTask;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsState;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.assignment.TaskAssignor;
import org.apache.kafka.streams.processor.assignment.TaskInfo;
import org.apache.kafka.streams.processor.assignment.TaskTopicPartition;
import org.apache.kafka.streams.state.HostInfo;

/**
 * Puts states to the shim without any Kafka: a line of JSON is a question (configs, tasks, clients, times), and a line
 * of JSON says what came of it. Even tasks have a store. Tasks were dealt out in turn before, but for the last two.
 */
public final class ShimQuestions {
    private ShimQuestions() {
    }

    public static void main(final String[] arguments) throws Exception {
        final BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            final Map<?, ?> asked = (Map<?, ?>) Json.read(line);
            final Map<String, Object> configs = new HashMap<>();
            ((Map<?, ?>) asked.get("configs")).forEach((key, value) -> configs.put(key.toString(), value));
            final State state = new State(number(asked, "tasks"), number(asked, "clients"), asked.get("broken") != null);
            final List<Double> took = new ArrayList<>();
            Map<String, Object> told = new LinkedHashMap<>();
            for (int time = 0; time < number(asked, "times"); time++) {
                final long start = System.nanoTime();
                // As Kafka does: a new object for each rebalance.
                final TaskAssignor assignor = new AssignorLabTaskAssignor();
                assignor.configure(configs);
                final TaskAssignor.TaskAssignment assignment = assignor.assign(state);
                took.add((System.nanoTime() - start) / 1e6);
                told = told(assignment);
            }
            told.put("ms", took);
            told.put("jmx", ShimApplication.decisions(ObjectName.quote((String) configs.get("application.id"))));
            told.put("children", ProcessHandle.current().children().map(ProcessHandle::pid).collect(Collectors.toList()));
            told.put("threads", Thread.getAllStackTraces().keySet().stream()
                .filter(each -> each.getName().startsWith("assignor-lab")).count());
            System.out.println("told " + Json.write(told));
            System.out.flush();
        }
    }

    private static int number(final Map<?, ?> asked, final String key) {
        return ((Long) asked.get(key)).intValue();
    }

    private static Map<String, Object> told(final TaskAssignor.TaskAssignment assignment) {
        final Map<String, Object> clients = new TreeMap<>();
        final Map<String, Object> followups = new TreeMap<>();
        for (final KafkaStreamsAssignment each : assignment.assignment()) {
            final Map<String, Object> roles = new LinkedHashMap<>();
            for (final AssignedTask.Type type : AssignedTask.Type.values()) {
                roles.put(type.name().toLowerCase(java.util.Locale.ROOT), each.tasks().values().stream()
                    .filter(task -> task.type() == type).map(AssignedTask::id).sorted().map(TaskId::toString)
                    .collect(Collectors.toList()));
            }
            final String process = each.processId().id().toString();
            clients.put(process, roles);
            each.followupRebalanceDeadline().ifPresent(at -> followups.put(process, at.toEpochMilli()));
        }
        final Map<String, Object> told = new LinkedHashMap<>();
        told.put("assignment", clients);
        told.put("followups", followups);
        return told;
    }

    private static final class State implements ApplicationState {
        private final Map<TaskId, TaskInfo> tasks = new HashMap<>();
        private final Map<ProcessId, KafkaStreamsState> clients = new HashMap<>();
        private final boolean isBroken;

        State(final int tasks, final int clients, final boolean isBroken) {
            this.isBroken = isBroken;
            for (int number = 0; number < tasks; number++) {
                final Info info = new Info(new TaskId(number % 2, number));
                this.tasks.put(info.id(), info);
            }
            for (int number = 1; number <= clients; number++) {
                final SortedSet<TaskId> previous = new TreeSet<>();
                for (int task = 0; task < tasks - 2; task++) {
                    if (task % clients == number - 1) {
                        previous.add(new TaskId(task % 2, task));
                    }
                }
                final Client client = new Client(number, previous, this.tasks);
                this.clients.put(client.processId(), client);
            }
        }

        @Override
        public Map<ProcessId, KafkaStreamsState> kafkaStreamsStates(final boolean computeTaskLags) {
            if (isBroken && computeTaskLags) {
                throw new IllegalStateException("end offsets cannot be fetched");
            }
            return clients;
        }

        @Override
        public AssignmentConfigs assignmentConfigs() {
            return new AssignmentConfigs(10_000L, 2, 0, 600_000L, List.of(), OptionalInt.empty(), OptionalInt.of(1), "none");
        }

        @Override
        public Map<TaskId, TaskInfo> allTasks() {
            return tasks;
        }
    }

    private static final class Info implements TaskInfo {
        private final TaskId id;

        Info(final TaskId id) {
            this.id = id;
        }

        @Override
        public TaskId id() {
            return id;
        }

        @Override
        public boolean isStateful() {
            return id.subtopology() == 0;
        }

        @Override
        public Set<String> stateStoreNames() {
            return isStateful() ? Set.of("store \u00e9 \"quoted\"") : Set.of();
        }

        @Override
        public Set<TaskTopicPartition> topicPartitions() {
            final Partition source = new Partition("in" + id.subtopology(), id.partition(), true);
            return isStateful() ? Set.of(source, new Partition("changelog", id.partition(), false)) : Set.of(source);
        }
    }

    private static final class Partition implements TaskTopicPartition {
        private final TopicPartition partition;
        private final boolean isSource;

        Partition(final String topic, final int number, final boolean isSource) {
            partition = new TopicPartition(topic, number);
            this.isSource = isSource;
        }

        @Override
        public TopicPartition topicPartition() {
            return partition;
        }

        @Override
        public boolean isSource() {
            return isSource;
        }

        @Override
        public boolean isChangelog() {
            return !isSource;
        }

        @Override
        public Optional<Set<String>> rackIds() {
            return Optional.of(Set.of("r1", "r2"));
        }
    }

    private static final class Client implements KafkaStreamsState {
        private final int number;
        private final SortedSet<TaskId> previous;
        private final Map<TaskId, Long> lags = new TreeMap<>();

        Client(final int number, final SortedSet<TaskId> previous, final Map<TaskId, TaskInfo> tasks) {
            this.number = number;
            this.previous = previous;
            tasks.values().stream().filter(TaskInfo::isStateful)
                .forEach(task -> lags.put(task.id(), previous.contains(task.id()) ? -2L : 100L * number));
        }

        @Override
        public ProcessId processId() {
            return new ProcessId(new UUID(0, number));
        }

        @Override
        public int numProcessingThreads() {
            return 1;
        }

        @Override
        public SortedSet<String> consumerClientIds() {
            return new TreeSet<>(Set.of("consumer-" + number));
        }

        @Override
        public SortedSet<TaskId> previousActiveTasks() {
            return previous;
        }

        @Override
        public SortedSet<TaskId> previousStandbyTasks() {
            return new TreeSet<>();
        }

        @Override
        public long lagFor(final TaskId task) {
            return lags.get(task);
        }

        @Override
        public SortedSet<TaskId> prevTasksByLag(final String consumer) {
            return previous;
        }

        @Override
        public Map<TaskId, Long> statefulTasksToLagSums() {
            return lags;
        }

        @Override
        public Optional<HostInfo> hostInfo() {
            return number == 1 ? Optional.of(new HostInfo("host1", 8080)) : Optional.empty();
        }

        @Override
        public Map<String, String> clientTags() {
            return Map.of("zone", "a");
        }

        @Override
        public Optional<String> rackId() {
            return Optional.of("r1");
        }
    }
}
