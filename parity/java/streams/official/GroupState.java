package official;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.AssignmentConfigs;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.internals.assignment.ClientState;

/**
 * A scenario of format 1 as the Java objects that a group's leader would have. Everything enters its collection in the
 * order of the document, because the hash orders decide part of the answers.
 */
final class GroupState {
    private static final long RUNNING_ACTIVE = -2L;
    private static final long UNKNOWN_LAG = -3L;

    private static final Field PREVIOUS_BY_CONSUMER = previousByConsumerField();

    final AssignmentConfigs configs;
    final List<TaskId> listedTasks = new ArrayList<>();
    final Set<TaskId> allTasks;
    final Set<TaskId> logged = new HashSet<>();
    final Map<TaskId, JsonNode> taskDocuments = new HashMap<>();
    final List<ProcessId> listedProcesses = new ArrayList<>();
    final Map<ProcessId, ClientState> clients = new HashMap<>();
    final Map<ProcessId, JsonNode> clientDocuments = new HashMap<>();

    GroupState(JsonNode scenario) {
        configs = configs(scenario.get("config"));
        for (JsonNode task : scenario.get("tasks")) {
            TaskId id = TaskId.parse(task.get("id").asText());
            listedTasks.add(id);
            taskDocuments.put(id, task);
            if (task.get("logged").asBoolean()) {
                logged.add(id);
            }
        }
        allTasks = taskDocuments.keySet();
        for (JsonNode client : scenario.get("clients")) {
            ProcessId process = processId(client.get("process_id").asText());
            listedProcesses.add(process);
            clientDocuments.put(process, client);
            clients.put(process, clientState(process, client));
        }
    }

    static ProcessId processId(String text) {
        return new ProcessId(UUID.fromString(text));
    }

    /** The consumers of a client, sorted as Kafka sorts them. */
    static TreeSet<String> consumers(JsonNode client) {
        TreeSet<String> consumers = new TreeSet<>();
        client.get("consumers").forEach(consumer -> consumers.add(consumer.asText()));
        return consumers;
    }

    /** {@code client.rack}, absent where it is not configured. */
    static Optional<String> rack(JsonNode client) {
        return text(client.get("rack"));
    }

    static Optional<String> text(JsonNode node) {
        return node == null || node.isNull() ? Optional.empty() : Optional.of(node.asText());
    }

    static LinkedHashSet<TaskId> taskIds(JsonNode texts) {
        LinkedHashSet<TaskId> ids = new LinkedHashSet<>();
        if (texts != null) {
            texts.forEach(text -> ids.add(TaskId.parse(text.asText())));
        }
        return ids;
    }

    static TopicPartition topicPartition(JsonNode partition) {
        return new TopicPartition(partition.get("topic").asText(), partition.get("partition").asInt());
    }

    private ClientState clientState(ProcessId process, JsonNode client) {
        Map<String, String> tags = new HashMap<>();
        client.get("tags").properties().forEach(tag -> tags.put(tag.getKey(), tag.getValue().asText()));
        ClientState state = new ClientState(
            new TreeSet<>(taskIds(client.get("previous_active"))),
            new TreeSet<>(taskIds(client.get("previous_standby"))),
            lags(client),
            tags,
            client.get("threads").asInt(),
            process);
        JsonNode reported = client.get("previous_by_consumer");
        Map<String, Set<TaskId>> previous = previousByConsumer(state);
        for (String consumer : consumers(client)) {
            boolean known = reported != null && reported.has(consumer);
            previous.put(consumer, known ? taskIds(reported.get(consumer)) : Set.of());
        }
        return state;
    }

    /** The state's own map: the method that fills it would compute the lags as well, and those are given here. */
    @SuppressWarnings("unchecked")
    private static Map<String, Set<TaskId>> previousByConsumer(ClientState state) {
        try {
            return (Map<String, Set<TaskId>>) PREVIOUS_BY_CONSUMER.get(state);
        } catch (IllegalAccessException error) {
            throw new LinkageError("the field was made accessible", error);
        }
    }

    private static Field previousByConsumerField() {
        try {
            Field field = ClientState.class.getDeclaredField("consumerToPreviousStatefulTaskIds");
            field.setAccessible(true);
            return field;
        } catch (NoSuchFieldException error) {
            throw new LinkageError("this kafka-streams keeps previous tasks in another way", error);
        }
    }

    /** Null in the document: no end offset could be fetched, so every sum that is no mark becomes "unknown". */
    private Map<TaskId, Long> lags(JsonNode client) {
        Map<TaskId, Long> lags = new TreeMap<>();
        if (client.get("lags").isNull()) {
            Set<TaskId> running = taskIds(client.get("previous_active"));
            logged.forEach(task -> lags.put(task, running.contains(task) ? RUNNING_ACTIVE : UNKNOWN_LAG));
        } else {
            client.get("lags").properties()
                .forEach(lag -> lags.put(TaskId.parse(lag.getKey()), lag.getValue().asLong()));
        }
        return lags;
    }

    private static AssignmentConfigs configs(JsonNode given) {
        List<String> tags = new ArrayList<>();
        if (given.has("rack.aware.assignment.tags")) {
            given.get("rack.aware.assignment.tags").forEach(tag -> tags.add(tag.asText()));
        }
        return new AssignmentConfigs(
            number(given, "acceptable.recovery.lag", 10_000L),
            (int) number(given, "max.warmup.replicas", 2L),
            (int) number(given, "num.standby.replicas", 0L),
            number(given, "probing.rebalance.interval.ms", 600_000L),
            tags,
            cost(given, "rack.aware.assignment.traffic_cost"),
            cost(given, "rack.aware.assignment.non_overlap_cost"),
            text(given.get("rack.aware.assignment.strategy")).orElse("none"));
    }

    private static long number(JsonNode given, String key, long otherwise) {
        return given.hasNonNull(key) ? given.get(key).asLong() : otherwise;
    }

    private static OptionalInt cost(JsonNode given, String key) {
        return given.hasNonNull(key) ? OptionalInt.of(given.get(key).asInt()) : OptionalInt.empty();
    }
}
