package assignorlab.driver;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
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

    /** Texts by name, in the order of Java's hash map, as Kafka has them. */
    static Map<String, String> texts(Object value) {
        Map<String, String> found = new HashMap<>();
        map(value).forEach((key, text) -> found.put(key, (String) text));
        return found;
    }

    /** Eight values in the order of the public constructor. */
    static AssignmentConfigs configs(List<Object> values) {
        List<String> tags = new ArrayList<>();
        list(values.get(4)).forEach(tag -> tags.add((String) tag));
        return new AssignmentConfigs(
            number(values.get(0)),
            (int) number(values.get(1)),
            (int) number(values.get(2)),
            number(values.get(3)),
            tags,
            optional(values.get(5)),
            optional(values.get(6)),
            (String) values.get(7));
    }

    private static OptionalInt optional(Object value) {
        return value == null ? OptionalInt.empty() : OptionalInt.of((int) number(value));
    }
}
