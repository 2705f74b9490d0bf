package assignorlab.shim;

import java.util.Map;

/** What JMX tells of an application's decisions that this process made as its leader. */
public interface DecisionsMXBean {
    /** All decisions. */
    long getDecisions();

    /** Decisions of the assignor itself. */
    long getAnswered();

    /** Decisions of a fallback. */
    long getFallbacks();

    /** The same by {@link Cause}; every cause is there. */
    Map<String, Long> getFallbacksByCause();

    /** Who decided last: {@code assignor}, {@code sticky} or {@code previous}; empty before the first decision. */
    String getLastDecidedBy();

    /** Why it was a fallback; empty where the assignor decided. */
    String getLastCause();

    /** The same in a sentence. */
    String getLastMessage();

    /** Milliseconds of the last decision, from the state to the checked assignment. */
    double getLastLatencyMs();

    /** The longest one. */
    double getMaxLatencyMs();

    /** {@code CLOSED}, {@code OPEN} or {@code HALF_OPEN}. */
    String getBreakerState();

    /** What the Python side says it serves; empty before it has said so. */
    String getAssignor();
}
