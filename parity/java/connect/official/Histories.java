package official;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.connect.runtime.TargetState;
import org.apache.kafka.connect.runtime.distributed.IncrementalCooperativeAssignor;
import org.apache.kafka.connect.runtime.distributed.WorkerCoordinator.ConnectorsAndTasks;
import org.apache.kafka.connect.storage.ClusterConfigState;
import org.apache.kafka.connect.util.ConnectorTaskId;

/**
 * Scenarios of kind {@code connect}: Connect's incremental cooperative assignor through the rounds of a history. The
 * method that Kafka's own tests call is not public, and neither is its answer: both are reached by reflection.
 */
final class Histories {
    private Histories() {}

    static ObjectNode row(ObjectMapper json, JsonNode scenario, String assignor) {
        ObjectNode row = json.createObjectNode();
        row.put("format", 1).put("kind", "connect").put("id", scenario.get("id").asText()).put("assignor", assignor);
        try {
            ArrayNode rounds = json.createArrayNode();
            for (Round round : new Leader(scenario).rounds()) {
                ObjectNode fields = rounds.addObject().put("delay_ms", round.delay());
                put(fields.putObject("assigned"), round, "newlyAssigned");
                put(fields.putObject("revoked"), round, "newlyRevoked");
            }
            row.set("rounds", rounds);
            return row.putNull("error");
        } catch (RuntimeException error) {
            row.putNull("rounds").putObject("error")
                .put("type", error.getClass().getSimpleName()).put("message", error.getMessage());
            return row;
        }
    }

    /** Duration of each round, on a new assignor: the eager one where the group speaks that protocol. */
    static long[] nanoseconds(JsonNode scenario) {
        if (scenario.get("protocol").asText().equals("eager")) {
            return EagerRounds.nanoseconds(scenario);
        }
        return new Leader(scenario).rounds().stream().mapToLong(Round::nanoseconds).toArray();
    }

    private static void put(ObjectNode fields, Round round, String which) {
        for (String member : round.members()) {
            ObjectNode jobs = fields.putObject(member);
            ArrayNode connectors = jobs.putArray("connectors");
            ArrayNode tasks = jobs.putArray("tasks");
            for (Object connector : new TreeSet<>(told(round.answer(), which + "Connectors", member))) {
                connectors.add((String) connector);
            }
            for (Object task : new TreeSet<>(told(round.answer(), which + "Tasks", member))) {
                tasks.add(((ConnectorTaskId) task).connector() + "-" + ((ConnectorTaskId) task).task());
            }
        }
    }

    private static Collection<?> told(Object answer, String accessor, String member) {
        return (Collection<?>) invoked(method(answer.getClass(), accessor, String.class), answer, member);
    }

    /** What came of one round. */
    private record Round(List<String> members, Object answer, int delay, long nanoseconds) {}

    /** The assignor of the worker that leads, and its clock. */
    private static final class Leader {
        private static final Method ASSIGN = method(
            IncrementalCooperativeAssignor.class,
            "performTaskAssignment", ClusterConfigState.class, int.class, int.class, Map.class);

        private final JsonNode scenario;
        private final Time time = (Time) Proxy.newProxyInstance(
            Time.class.getClassLoader(), new Class<?>[] {Time.class}, (proxy, called, arguments) -> {
                if (called.getName().equals("milliseconds")) {
                    return now();
                }
                throw new UnsupportedOperationException(called.getName());
            });
        private long now;

        Leader(JsonNode scenario) {
            this.scenario = scenario;
        }

        private long now() {
            return now;
        }

        List<Round> rounds() {
            List<Round> rounds = new ArrayList<>();
            IncrementalCooperativeAssignor assignor = created();
            int completed = -1;
            for (JsonNode round : scenario.get("rounds")) {
                int generation = rounds.size();
                if (generation > 0 && !round.path("generation_gap").asBoolean()) {
                    completed = generation - 1;
                }
                if (round.path("new_leader").asBoolean()) {
                    assignor = created();
                }
                now = round.get("time_ms").asLong();
                ClusterConfigState configured = configured(round.get("connectors"));
                Map<String, ConnectorsAndTasks> members = members(round.get("members"));
                long begin = System.nanoTime();
                Object answer = invoked(ASSIGN, assignor, configured, completed, generation, members);
                long nanoseconds = System.nanoTime() - begin;
                List<String> listed = new ArrayList<>();
                round.get("members").forEach(member -> listed.add(member.get("id").asText()));
                rounds.add(new Round(listed, answer, delay(assignor), nanoseconds));
            }
            return rounds;
        }

        private IncrementalCooperativeAssignor created() {
            return new IncrementalCooperativeAssignor(Logs.context(), time, scenario.get("max_delay_ms").asInt());
        }
    }

    static ClusterConfigState configured(JsonNode connectors) {
        Map<String, Integer> counts = new HashMap<>();
        Map<String, Map<String, String>> configs = new HashMap<>();
        Map<String, TargetState> states = new HashMap<>();
        Map<ConnectorTaskId, Map<String, String>> tasks = new HashMap<>();
        connectors.properties().forEach(entry -> {
            String name = entry.getKey();
            counts.put(name, entry.getValue().asInt());
            configs.put(name, Map.of());
            states.put(name, TargetState.STARTED);
            for (int task = 0; task < entry.getValue().asInt(); task++) {
                tasks.put(new ConnectorTaskId(name, task), Map.of());
            }
        });
        return new ClusterConfigState(
            1, null, counts, configs, states, tasks, Map.of(), Map.of(), Map.of(), Set.of(), Set.of());
    }

    private static Map<String, ConnectorsAndTasks> members(JsonNode listed) {
        Map<String, ConnectorsAndTasks> members = new HashMap<>();
        listed.forEach(member -> {
            Set<String> connectors = new LinkedHashSet<>();
            member.get("owned").get("connectors").forEach(name -> connectors.add(name.asText()));
            Set<ConnectorTaskId> tasks = new LinkedHashSet<>();
            member.get("owned").get("tasks").forEach(text -> tasks.add(task(text.asText())));
            members.put(
                member.get("id").asText(), new ConnectorsAndTasks.Builder().with(connectors, tasks).build());
        });
        return members;
    }

    private static ConnectorTaskId task(String text) {
        int dash = text.lastIndexOf('-');
        return new ConnectorTaskId(text.substring(0, dash), Integer.parseInt(text.substring(dash + 1)));
    }

    private static int delay(IncrementalCooperativeAssignor assignor) {
        try {
            var field = IncrementalCooperativeAssignor.class.getDeclaredField("delay");
            field.setAccessible(true);
            return field.getInt(assignor);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    static Method method(Class<?> owner, String name, Class<?>... parameters) {
        try {
            Method found = owner.getDeclaredMethod(name, parameters);
            found.setAccessible(true);
            return found;
        } catch (NoSuchMethodException error) {
            throw new IllegalStateException(error);
        }
    }

    static Object invoked(Method method, Object target, Object... arguments) {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException error) {
            if (error.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(error.getCause());
        } catch (IllegalAccessException error) {
            throw new IllegalStateException(error);
        }
    }
}
