package assignorlab.shim;

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
    private PythonSide side;
    private long questions;

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
        String id = settings.application + "-" + System.currentTimeMillis() + "-" + questions;
        Failure failure;
        try {
            if (!settings.problems.isEmpty()) {
                throw new Failure(Cause.SETTINGS, String.join("; ", settings.problems));
            }
            if (!breaker.permits(start)) {
                throw new Failure(Cause.BREAKER_OPEN, "it failed " + settings.breakerFailures + " times or more in a row, "
                    + "and is asked again " + settings.breakerOpenMs + " ms after the last failure");
            }
            Object question = question(id, state);
            asked = new Asked(side());
            TaskAssignment assignment = answer(asked, question, id, state);
            breaker.succeeded();
            note("assignor", null, start);
            log.answered(asked.assignor, start);
            asked.tell(verdict(id, "assignor", null, null));
            return assignment;
        } catch (Failure error) {
            failure = error;
        } catch (RuntimeException | LinkageError error) {
            failure = new Failure(Cause.SHIM, "a fault of the shim: " + error);
        }
        if (failure.cause != Cause.BREAKER_OPEN) {
            breaker.failed(System.nanoTime());
        }
        return fallBack(state, id, failure, asked, start);
    }

    private TaskAssignment fallBack(ApplicationState state, String id, Failure failure, Asked asked, long start) {
        String by = "previous";
        TaskAssignment assignment = null;
        for (String name : settings.fallbacks) {
            assignment = checkedFallback(name, state);
            if (assignment != null) {
                by = name;
                break;
            }
        }
        if (assignment == null) {
            assignment = Fallbacks.previous(state);
        }
        note(by, failure, start);
        log.fellBack(failure, by, start);
        if (asked != null) {
            asked.tell(verdict(id, by, failure, assignment));
        }
        return assignment;
    }

    /** What a fallback decides; null where it fails, or Kafka would refuse it. */
    private TaskAssignment checkedFallback(String name, ApplicationState state) {
        try {
            TaskAssignment assignment = Fallbacks.decide(name, state);
            return TaskAssignmentUtils.validateTaskAssignment(state, assignment) == AssignmentError.NONE ? assignment : null;
        } catch (RuntimeException error) {
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

    private TaskAssignment answer(Asked asked, Object question, String id, ApplicationState state) throws Failure {
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

    private static Map<String, Object> verdict(String id, String by, Failure failure, TaskAssignment assignment) {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("id", id);
        told.put("by", by);
        if (failure != null) {
            told.put("cause", failure.cause.name());
            told.put("message", failure.getMessage());
            told.put("assignment", Documents.assignment(assignment));
            told.put("followup", Documents.hasFollowup(assignment));
        }
        return Map.of("decided", told);
    }

    private void note(String by, Failure failure, long start) {
        decisions.note(by, failure, (System.nanoTime() - start) / 1e6);
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
