package assignorlab.driver;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupAssignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment.AssignedTask;
import org.apache.kafka.streams.processor.assignment.TaskAssignor;

/** Asks a task assignor of KIP-924: a new one for each question, as Kafka makes one for each rebalance. */
final class Assignor implements Main.Asked {
    private final Made made;
    private final boolean observes;
    /** The application's tasks, and their numbers: most questions are about the same ones. */
    private List<Task> tasks = List.of();
    private final Map<TaskId, Integer> numbers = new HashMap<>();
    /** Who has answered last, and is told what became of it. */
    private TaskAssignor last;

    Assignor(Class<?> assignor) throws ReflectiveOperationException {
        made = new Made(assignor);
        observes = assignor.getMethod(
            "onAssignmentComputed", GroupAssignment.class, GroupSubscription.class, TaskAssignor.AssignmentError.class)
            .getDeclaringClass() != TaskAssignor.class;
    }

    @Override
    public boolean observes() {
        return observes;
    }

    @Override
    public Map<String, Object> answer(Map<String, Object> question) throws Exception {
        if (question.get("do").equals("computed")) {
            computed(question);
            return Map.of();
        }
        if (question.get("tasks") != null) {
            tasks = Task.all(Read.list(question.get("tasks")));
            numbers.clear();
            tasks.forEach(task -> numbers.put(task.id(), numbers.size()));
        }
        State state = new State(tasks, ids(Read.list(question.get("others"))), question);
        last = null;
        TaskAssignor assignor = (TaskAssignor) made.instance();
        assignor.configure(Read.map(question.get("configs")));
        long start = System.currentTimeMillis();
        TaskAssignor.TaskAssignment answer = assignor.assign(state);
        last = assignor;
        return document(answer, start, Read.number(question.get("now")));
    }

    /** Tasks by their numbers: the application's, then those that it does not have, or no more. */
    private TaskId[] ids(List<Object> others) {
        TaskId[] found = new TaskId[tasks.size() + others.size()];
        int number = 0;
        for (Task task : tasks) {
            found[number++] = task.id();
        }
        for (Object other : others) {
            found[number++] = TaskId.parse((String) other);
        }
        return found;
    }

    private Map<String, Object> document(TaskAssignor.TaskAssignment answer, long start, long now) {
        if (answer == null) {
            return Map.of("invalid", "assign() returned null");
        }
        Collection<KafkaStreamsAssignment> assignments = answer.assignment();
        if (assignments == null) {
            return Map.of("invalid", "assign() returned an assignment of null");
        }
        List<Object> clients = new ArrayList<>();
        for (KafkaStreamsAssignment assignment : assignments) {
            if (assignment == null) {
                return Map.of("invalid", "assign() returned an assignment with a client that is null");
            }
            List<Object> tasks = new ArrayList<>();
            for (AssignedTask task : assignment.tasks().values()) {
                tasks.add(document(task));
            }
            List<Object> client = new ArrayList<>();
            client.add(assignment.processId().toString());
            client.add(tasks);
            client.add(assignment.followupRebalanceDeadline().map(deadline -> moment(deadline, start, now)).orElse(null));
            clients.add(client);
        }
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("assignment", clients);
        return document;
    }

    /** An active task's number, or -1 less a standby's; the text of one that the application does not have. */
    private Object document(AssignedTask task) {
        boolean isActive = task.type() == AssignedTask.Type.ACTIVE;
        Integer number = numbers.get(task.id());
        if (number == null) {
            return List.of(task.id().toString(), isActive);
        }
        return isActive ? number : -1 - number;
    }

    /**
     * A deadline on the state's clock. An assignor has no other clock than the machine's, which runs on while it thinks:
     * what lies ahead of the moment in which it was asked lies as far ahead of the state's moment, in whole seconds.
     */
    private static long moment(Instant deadline, long start, long now) {
        long millis;
        try {
            millis = deadline.toEpochMilli();
        } catch (ArithmeticException error) {
            return deadline.isBefore(Instant.EPOCH) ? 0 : Long.MAX_VALUE;
        }
        if (millis < start - MOST_PAST_MS) {
            return millis;
        }
        try {
            return Math.max(0, Math.addExact(now, Math.floorDiv(millis - start, 1000L) * 1000L));
        } catch (ArithmeticException error) {
            return Long.MAX_VALUE;
        }
    }

    /** What is further back than a day is no moment of the machine's clock, but says "at once". */
    private static final long MOST_PAST_MS = 86_400_000L;

    private void computed(Map<String, Object> question) {
        TreeSet<String> topics = new TreeSet<>();
        for (Task task : tasks) {
            topics.addAll(task.sourceTopics());
        }
        Map<String, Assignment> assignments = new LinkedHashMap<>();
        for (Object item : Read.list(question.get("assignment"))) {
            List<Object> member = Read.list(item);
            assignments.put((String) member.get(0), new Assignment(Read.partitions(member.get(1)), buffer(null)));
        }
        Map<String, Subscription> subscriptions = new LinkedHashMap<>();
        for (Object item : Read.list(question.get("subscription"))) {
            List<Object> member = Read.list(item);
            subscriptions.put(
                (String) member.get(0),
                new Subscription(
                    new ArrayList<>(topics), buffer(null), Read.partitions(member.get(1)), -1, Optional.ofNullable((String) member.get(2))));
        }
        last.onAssignmentComputed(
            new GroupAssignment(assignments),
            new GroupSubscription(subscriptions),
            TaskAssignor.AssignmentError.valueOf((String) question.get("error")));
    }

    private static ByteBuffer buffer(byte[] content) {
        return content == null ? null : ByteBuffer.wrap(content);
    }
}
