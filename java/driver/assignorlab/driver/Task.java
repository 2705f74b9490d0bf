package assignorlab.driver;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.TaskInfo;
import org.apache.kafka.streams.processor.assignment.TaskTopicPartition;

/**
 * One task. Differs from Kafka's own class in one point: it has the hash, equality and order of its id. Kafka's has the
 * hash of its address, so that orders change from run to run.
 */
final class Task implements TaskInfo, Comparable<Task> {
    private final TaskId id;
    private final boolean isStateful;
    private final boolean isLogged;
    private final Set<String> stores;
    private final Set<TaskTopicPartition> partitions;

    private Task(List<Object> given) {
        id = TaskId.parse((String) given.get(0));
        isStateful = (Boolean) given.get(1);
        isLogged = (Boolean) given.get(2);
        Set<String> names = new HashSet<>();
        Read.list(given.get(3)).forEach(name -> names.add((String) name));
        stores = Collections.unmodifiableSet(names);
        Set<TaskTopicPartition> found = new HashSet<>();
        Read.list(given.get(4)).forEach(partition -> found.add(new Partition(Read.list(partition))));
        partitions = Collections.unmodifiableSet(found);
    }

    static List<Task> all(List<Object> given) {
        List<Task> found = new ArrayList<>(given.size());
        given.forEach(task -> found.add(new Task(Read.list(task))));
        return found;
    }

    boolean isLogged() {
        return isLogged;
    }

    Set<String> sourceTopics() {
        Set<String> found = new HashSet<>();
        for (TaskTopicPartition partition : partitions) {
            if (partition.isSource()) {
                found.add(partition.topicPartition().topic());
            }
        }
        return found;
    }

    @Override
    public TaskId id() {
        return id;
    }

    @Override
    public boolean isStateful() {
        return isStateful;
    }

    @Override
    public Set<String> stateStoreNames() {
        return stores;
    }

    @Override
    public Set<TaskTopicPartition> topicPartitions() {
        return partitions;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Task && id.equals(((Task) other).id);
    }

    @Override
    public int hashCode() {
        return id.hashCode();
    }

    @Override
    public int compareTo(Task other) {
        return id.compareTo(other.id);
    }

    @Override
    public String toString() {
        return "Task(" + id + ", stateful " + isStateful + ", stores " + stores + ", " + partitions + ")";
    }
}
