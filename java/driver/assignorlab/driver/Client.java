package assignorlab.driver;

import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsState;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.state.HostInfo;

/** One client, an instance of the application; with its lags, or as it is shown to who did not ask for them. */
final class Client implements KafkaStreamsState {
    private static final long RUNNING_ACTIVE = -2L;
    private static final long UNKNOWN_LAG = -3L;

    private final ProcessId process;
    private final int threads;
    private final SortedSet<String> consumers;
    private final SortedSet<TaskId> previousActive;
    private final SortedSet<TaskId> previousStandby;
    private final Map<String, Set<TaskId>> byConsumer;
    private final Optional<HostInfo> host;
    private final Map<String, String> tags;
    private final Optional<String> rack;
    /** Null: nobody asked for them. */
    private final Map<TaskId, Long> lags;

    Client(List<Object> given, List<Task> tasks, TaskId[] ids) {
        process = new ProcessId(UUID.fromString((String) given.get(0)));
        threads = (int) Read.number(given.get(1));
        TreeSet<String> names = new TreeSet<>();
        Read.list(given.get(2)).forEach(name -> names.add((String) name));
        consumers = Collections.unmodifiableSortedSet(names);
        previousActive = Collections.unmodifiableSortedSet(new TreeSet<>(Read.taskIds(given.get(3), ids)));
        previousStandby = Collections.unmodifiableSortedSet(new TreeSet<>(Read.taskIds(given.get(4), ids)));
        Map<TaskId, Long> found = new TreeMap<>();
        if (given.get(5) == null) {
            // No end offset could be fetched: Kafka asks an assignor of the user all the same.
            for (Task task : tasks) {
                if (task.isLogged()) {
                    found.put(task.id(), previousActive.contains(task.id()) ? RUNNING_ACTIVE : UNKNOWN_LAG);
                }
            }
        } else {
            List<Object> numbers = Read.list(Read.list(given.get(5)).get(0));
            List<Object> sums = Read.list(Read.list(given.get(5)).get(1));
            for (int index = 0; index < numbers.size(); index++) {
                found.put(ids[(int) Read.number(numbers.get(index))], Read.number(sums.get(index)));
            }
        }
        lags = Collections.unmodifiableMap(found);
        byConsumer = new TreeMap<>();
        Read.map(given.get(6)).forEach((consumer, held) -> byConsumer.put(consumer, Read.taskIds(held, ids)));
        host = Optional.ofNullable((String) given.get(7)).map(HostInfo::buildFromEndpoint);
        tags = Collections.unmodifiableMap(Read.texts(given.get(8)));
        rack = Optional.ofNullable((String) given.get(9));
    }

    private Client(Client other) {
        process = other.process;
        threads = other.threads;
        consumers = other.consumers;
        previousActive = other.previousActive;
        previousStandby = other.previousStandby;
        byConsumer = other.byConsumer;
        host = other.host;
        tags = other.tags;
        rack = other.rack;
        lags = null;
    }

    KafkaStreamsState withoutLags() {
        return new Client(this);
    }

    @Override
    public ProcessId processId() {
        return process;
    }

    @Override
    public int numProcessingThreads() {
        return threads;
    }

    @Override
    public SortedSet<String> consumerClientIds() {
        return consumers;
    }

    @Override
    public SortedSet<TaskId> previousActiveTasks() {
        return previousActive;
    }

    @Override
    public SortedSet<TaskId> previousStandbyTasks() {
        return previousStandby;
    }

    @Override
    public long lagFor(TaskId task) {
        Long lag = computed().get(task);
        if (lag == null) {
            throw new IllegalStateException("Tried to lookup lag for unknown task " + task);
        }
        return lag;
    }

    @Override
    public SortedSet<TaskId> prevTasksByLag(String consumer) {
        Map<TaskId, Long> known = computed();
        SortedSet<TaskId> sorted =
            new TreeSet<>(Comparator.<TaskId, Long>comparing(known::get).thenComparing(Comparator.naturalOrder()));
        for (TaskId task : byConsumer.getOrDefault(consumer, Set.of())) {
            if (known.containsKey(task)) {
                sorted.add(task);
            }
        }
        return sorted;
    }

    @Override
    public Map<TaskId, Long> statefulTasksToLagSums() {
        return computed();
    }

    @Override
    public Optional<HostInfo> hostInfo() {
        return host;
    }

    @Override
    public Map<String, String> clientTags() {
        return tags;
    }

    @Override
    public Optional<String> rackId() {
        return rack;
    }

    private Map<TaskId, Long> computed() {
        if (lags == null) {
            throw new UnsupportedOperationException(
                "lags of client " + process + " were not asked for: call kafkaStreamsStates(true)");
        }
        return lags;
    }
}
