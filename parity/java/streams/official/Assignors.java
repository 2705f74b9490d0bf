package official;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment;
import org.apache.kafka.streams.processor.assignment.TaskAssignor;
import org.apache.kafka.streams.processor.assignment.assignors.StickyTaskAssignor;
import org.apache.kafka.streams.processor.internals.assignment.FallbackPriorTaskAssignor;
import org.apache.kafka.streams.processor.internals.assignment.HighAvailabilityTaskAssignor;
import org.apache.kafka.streams.processor.internals.assignment.LegacyStickyTaskAssignor;
import org.apache.kafka.streams.processor.internals.assignment.LegacyTaskAssignor;
import org.apache.kafka.streams.processor.internals.assignment.RackAwareTaskAssignor;

/** One call of one assignor, prepared so that what is timed is the call alone; afterwards the group has the answer. */
final class Assignors {
    private static final Map<String, Supplier<LegacyTaskAssignor>> INTERNAL = Map.of(
        "high_availability", HighAvailabilityTaskAssignor::new,
        "legacy_sticky", LegacyStickyTaskAssignor::new,
        "fallback_prior", FallbackPriorTaskAssignor::new);

    private Assignors() {}

    /** The call; it returns whether a follow-up rebalance was asked for. */
    interface Call {
        boolean run();
    }

    static boolean isInternal(String name) {
        return INTERNAL.containsKey(name);
    }

    static Call prepared(String name, JsonNode scenario, GroupState group) {
        if (!isInternal(name)) {
            PublicState state = new PublicState(group);
            TaskAssignor assignor = new StickyTaskAssignor();
            TaskAssignor.TaskAssignment[] answer = new TaskAssignor.TaskAssignment[1];
            return () -> {
                answer[0] = assignor.assign(state);
                return handOver(answer[0], group);
            };
        }
        LegacyTaskAssignor assignor = INTERNAL.get(withoutLags(scenario, name)).get();
        RackAwareTaskAssignor racks = Racks.optimizer(group);
        return () -> assignor.assign(group.clients, group.allTasks, group.logged, racks, group.configs);
    }

    /** Without end offsets Kafka takes its fallback for every internal assignor but the sticky one. */
    private static String withoutLags(JsonNode scenario, String name) {
        for (JsonNode client : scenario.get("clients")) {
            if (client.get("lags").isNull() && !name.equals("legacy_sticky")) {
                return "fallback_prior";
            }
        }
        return name;
    }

    private static boolean handOver(TaskAssignor.TaskAssignment answer, GroupState group) {
        boolean followup = false;
        for (KafkaStreamsAssignment assignment : answer.assignment()) {
            group.clients.get(assignment.processId()).setAssignedTasks(assignment);
            followup |= assignment.followupRebalanceDeadline().isPresent();
        }
        return followup;
    }
}
