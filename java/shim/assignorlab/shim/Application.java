package assignorlab.shim;

import assignorlab.wire.Json;
import java.lang.management.ManagementFactory;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.ApplicationState;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment.AssignedTask;
import org.apache.kafka.streams.processor.assignment.TaskAssignmentUtils;
import org.apache.kafka.streams.processor.assignment.TaskAssignor.AssignmentError;
import org.apache.kafka.streams.processor.assignment.TaskAssignor.TaskAssignment;

/** What lasts of an application between its rebalances: whom to ask, what went wrong, and what is counted. */
final class Application {
    private static final Map<String, Application> KNOWN = new ConcurrentHashMap<>();

    private final Settings settings;
    private final Breaker breaker;
    private final Decisions decisions;
    private final CauseLog log;
    private final Untold untold = new Untold();
    private PythonSide side;
    private long questions;
    private String decidedBy;

    private Application(Settings settings) {
        this.settings = settings;
        breaker = new Breaker(settings.breakerFailures, settings.breakerOpenMs);
        decisions = new Decisions(breaker);
        log = new CauseLog(settings.application, settings.logRepeatMs);
        settings.remarks.forEach(log::remark);
    }

    /** The application of these settings; the same one for the same settings. */
    static Application of(Map<String, ?> configs) {
        Settings settings = new Settings(configs);
        return KNOWN.computeIfAbsent(settings.identity(), key -> new Application(settings));
    }

    /** Who runs what: as the assignor says, or else the fallback. */
    synchronized TaskAssignment decide(ApplicationState state) {
        if (questions++ == 0) {
            register();
        }
        long start = System.nanoTime();
        Asked asked = null;
        Map<String, Object> question = null;
        String id = settings.application + "-" + System.currentTimeMillis() + "-" + questions;
        Failure failure;
        try {
            if (!settings.problems.isEmpty()) {
                throw new Failure(Cause.SETTINGS, String.join("; ", settings.problems));
            }
            question = question(id, state);
            if (!breaker.permits(start)) {
                throw new Failure(Cause.BREAKER_OPEN, "it failed " + settings.breakerFailures + " times or more in a row, "
                    + "and is asked again " + settings.breakerOpenMs + " ms after the last failure");
            }
            asked = new Asked(side());
            TaskAssignment assignment = answer(asked, Json.write(question), id, state);
            breaker.succeeded();
            double ms = note("assignor", null, start);
            log.answered(asked.assignor, start);
            tell(question, verdict(id, "assignor", ms, null, null), asked);
            return assignment;
        } catch (Failure error) {
            failure = error;
        } catch (RuntimeException | LinkageError | OutOfMemoryError error) {
            failure = new Failure(Cause.SHIM, "a fault of the shim: " + error);
        }
        if (failure.cause != Cause.BREAKER_OPEN) {
            breaker.failed(System.nanoTime());
        }
        TaskAssignment assignment = fallBack(state);
        double ms = note(decidedBy, failure, start);
        log.fellBack(failure, decidedBy, start);
        if (question != null) {
            tell(question, verdict(id, decidedBy, ms, failure, assignment), asked);
        }
        return assignment;
    }

    /** Tells the log on the Python side what became of a question, now or else with the next one that is answered. */
    private void tell(Map<String, Object> question, Map<String, Object> verdict, Asked asked) {
        try {
            if (asked == null || !asked.isOpen()) {
                question.put("decided", verdict);
                untold.add(Json.write(Map.of("missed", question)));
            } else {
                asked.tell(untold.taken(Json.write(Map.of("decided", verdict))));
            }
        } catch (RuntimeException | OutOfMemoryError error) {
            log.remark("a decision is missing in the log of decisions: " + error);
        }
    }

    private TaskAssignment fallBack(ApplicationState state) {
        for (String name : settings.fallbacks) {
            TaskAssignment assignment = checkedFallback(name, state);
            if (assignment != null) {
                decidedBy = name;
                return assignment;
            }
        }
        decidedBy = "previous";
        return Fallbacks.previous(state);
    }

    /** What a fallback decides; null where it fails, or Kafka would refuse it. */
    private TaskAssignment checkedFallback(String name, ApplicationState state) {
        try {
            TaskAssignment assignment = Fallbacks.decide(name, state);
            return TaskAssignmentUtils.validateTaskAssignment(state, assignment) == AssignmentError.NONE ? assignment : null;
        } catch (RuntimeException | LinkageError error) {
            log.remark("fallback " + name + " failed: " + error);
            return null;
        }
    }

    private Map<String, Object> question(String id, ApplicationState state) throws Failure {
        Map<String, Object> question = new LinkedHashMap<>();
        try {
            question.put("ask",
                Documents.scenario(id, settings.application, System.currentTimeMillis(), state, settings.racks));
        } catch (RuntimeException error) {
            throw new Failure(Cause.STATE, "Kafka did not tell the state: " + error);
        }
        question.put("group", settings.application);
        question.put("deadline_ms", Math.min(settings.deadlineMs, 60_000));
        return question;
    }

    private TaskAssignment answer(Asked asked, String question, String id, ApplicationState state) throws Failure {
        Map<?, ?> frame = asked.answer(question, settings.deadlineMs);
        decisions.serves(asked.assignor);
        Object refused = frame.get("refused");
        if (refused instanceof Map) {
            throw new Failure(Cause.REFUSED, ((Map<?, ?>) refused).get("why") + ": " + ((Map<?, ?>) refused).get("message"));
        }
        TaskAssignment assignment = Documents.assignmentIn(frame.get("answer"), id);
        AssignmentError error = TaskAssignmentUtils.validateTaskAssignment(state, assignment);
        if (error != AssignmentError.NONE) {
            throw new Failure(Cause.INVALID, "Kafka would refuse its answer: " + error);
        }
        Set<TaskId> nobodys = new HashSet<>(state.allTasks().keySet());
        for (KafkaStreamsAssignment each : assignment.assignment()) {
            for (AssignedTask task : each.tasks().values()) {
                if (task.type() == AssignedTask.Type.ACTIVE) {
                    nobodys.remove(task.id());
                }
            }
        }
        if (!nobodys.isEmpty()) {
            // Kafka would let it pass, and process these partitions nowhere.
            throw new Failure(Cause.INVALID, "its answer leaves " + nobodys.size() + " tasks to nobody, such as "
                + nobodys.iterator().next());
        }
        return assignment;
    }

    private static Map<String, Object> verdict(
            String id, String by, double ms, Failure failure, TaskAssignment assignment) {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("id", id);
        told.put("by", by);
        told.put("ms", ms);
        if (failure != null) {
            told.put("cause", failure.cause.name());
            told.put("message", failure.getMessage());
            told.put("assignment", Documents.assignment(assignment));
            told.put("followup", Documents.hasFollowup(assignment));
        }
        return told;
    }

    private double note(String by, Failure failure, long start) {
        double ms = (System.nanoTime() - start) / 1e6;
        decisions.note(by, failure, ms);
        return ms;
    }

    private PythonSide side() {
        if (side == null) {
            side = settings.command != null
                ? new Child(settings.command, settings.startDeadlineMs)
                : new Listening(settings.portFile, settings.deadlineMs);
        }
        return side;
    }

    private void register() {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        try {
            ObjectName name = new ObjectName("assignorlab:type=Decisions,application=" + ObjectName.quote(settings.application));
            if (server.isRegistered(name)) {
                // Of other settings, or of another class loader: who decides now is what counts.
                server.unregisterMBean(name);
            }
            server.registerMBean(decisions, name);
        } catch (JMException error) {
            log.remark("JMX does not count decisions: " + error);
        }
    }
}
