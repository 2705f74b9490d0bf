package assignorlab.driver;

import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.assignment.TaskTopicPartition;

/** A partition that a task reads or logs its state to. */
final class Partition implements TaskTopicPartition {
    private final TopicPartition partition;
    private final boolean isSource;
    private final boolean isChangelog;
    private final Optional<Set<String>> racks;

    Partition(List<Object> given) {
        partition = new TopicPartition((String) given.get(0), (int) Read.number(given.get(1)));
        isSource = (Boolean) given.get(2);
        isChangelog = (Boolean) given.get(3);
        if (given.get(4) == null) {
            racks = Optional.empty();
        } else {
            Set<String> found = new HashSet<>();
            Read.list(given.get(4)).forEach(rack -> found.add((String) rack));
            racks = Optional.of(Collections.unmodifiableSet(found));
        }
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
        return isChangelog;
    }

    @Override
    public Optional<Set<String>> rackIds() {
        return racks;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Partition
            && partition.equals(((Partition) other).partition)
            && isSource == ((Partition) other).isSource
            && isChangelog == ((Partition) other).isChangelog;
    }

    @Override
    public int hashCode() {
        return partition.hashCode();
    }

    @Override
    public String toString() {
        return partition.toString();
    }
}
