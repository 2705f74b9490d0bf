package assignorlab.driver;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.AssignmentConfigs;

/** Reads what the lab sends, which is of the form that it is to have. */
final class Read {
    private Read() {}

    @SuppressWarnings("unchecked")
    static Map<String, Object> map(Object value) {
        return (Map<String, Object>) value;
    }

    @SuppressWarnings("unchecked")
    static List<Object> list(Object value) {
        return (List<Object>) value;
    }

    static long number(Object value) {
        return (Long) value;
    }

    /** Tasks by their numbers. */
    static Set<TaskId> taskIds(Object value, TaskId[] ids) {
        Set<TaskId> found = new LinkedHashSet<>();
        list(value).forEach(number -> found.add(ids[(int) number(number)]));
        return found;
    }

    static List<TopicPartition> partitions(Object value) {
        List<TopicPartition> found = new ArrayList<>();
        for (Object item : list(value)) {
            List<Object> partition = list(item);
            found.add(new TopicPartition((String) partition.get(0), (int) number(partition.get(1))));
        }
        return found;
    }

    static List<String> names(Object value) {
        List<String> found = new ArrayList<>();
        list(value).forEach(name -> found.add((String) name));
        return found;
    }

    static Set<Integer> numbers(Object value) {
        List<Integer> found = new ArrayList<>();
        list(value).forEach(number -> found.add((int) number(number)));
        return new HashSet<>(found);
    }

    /** Texts by name, in the order of Java's hash map, as Kafka has them. */
    static Map<String, String> texts(Object value) {
        Map<String, String> found = new HashMap<>();
        map(value).forEach((key, text) -> found.put(key, (String) text));
        return found;
    }

    /** Eight values in the order of the public constructor. */
    static AssignmentConfigs configs(List<Object> values) {
        return new AssignmentConfigs(
            number(values.get(0)),
            (int) number(values.get(1)),
            (int) number(values.get(2)),
            number(values.get(3)),
            names(values.get(4)),
            optional(values.get(5)),
            optional(values.get(6)),
            (String) values.get(7));
    }

    private static OptionalInt optional(Object value) {
        return value == null ? OptionalInt.empty() : OptionalInt.of((int) number(value));
    }
}
