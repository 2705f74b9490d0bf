package official;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.LongStream;
import org.apache.kafka.connect.runtime.distributed.EagerAssignor;
import org.apache.kafka.connect.runtime.distributed.ExtendedWorkerState;
import org.apache.kafka.connect.runtime.distributed.WorkerCoordinator;
import org.apache.kafka.connect.storage.ClusterConfigState;

/**
 * Times Connect's eager assignor. Its method asks a coordinator for the configuration and gives it what everybody runs,
 * so that one without a network is made; and it encodes the answer, too.
 */
final class EagerRounds {
    private static final Method ASSIGN = Histories.method(
        EagerAssignor.class, "performTaskAssignment", String.class, long.class, Map.class, WorkerCoordinator.class);

    private EagerRounds() {}

    /** Duration of each round. */
    static long[] nanoseconds(JsonNode scenario) {
        EagerAssignor assignor = new EagerAssignor(Logs.context());
        WorkerCoordinator coordinator = withoutNetwork();
        LongStream.Builder durations = LongStream.builder();
        for (JsonNode round : scenario.get("rounds")) {
            ClusterConfigState configured = Histories.configured(round.get("connectors"));
            coordinator.configSnapshot(configured);
            Map<String, ExtendedWorkerState> members = new HashMap<>();
            round.get("members").forEach(member -> {
                String id = member.get("id").asText();
                members.put(id, new ExtendedWorkerState("http://" + id + ":8083/", configured.offset(), null));
            });
            String leader = round.get("members").get(0).get("id").asText();
            long begin = System.nanoTime();
            Histories.invoked(ASSIGN, assignor, leader, configured.offset(), members, coordinator);
            durations.add(System.nanoTime() - begin);
        }
        return durations.build().toArray();
    }

    /** A coordinator whose constructor has not run: that would want a network. */
    private static WorkerCoordinator withoutNetwork() {
        try {
            Class<?> unsafe = Class.forName("sun.misc.Unsafe");
            Field instance = unsafe.getDeclaredField("theUnsafe");
            instance.setAccessible(true);
            Object made = unsafe.getMethod("allocateInstance", Class.class)
                .invoke(instance.get(null), WorkerCoordinator.class);
            return (WorkerCoordinator) made;
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }
}
