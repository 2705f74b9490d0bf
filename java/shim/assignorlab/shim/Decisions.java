package assignorlab.shim;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;

/** Counts an application's decisions. */
final class Decisions implements DecisionsMXBean {
    private final Breaker breaker;
    private final Map<Cause, Long> byCause = new EnumMap<>(Cause.class);
    private long answered;
    private long fallbacks;
    private String decidedBy = "";
    private String cause = "";
    private String message = "";
    private double lastMs;
    private double maxMs;
    private String assignor = "";

    Decisions(Breaker breaker) {
        this.breaker = breaker;
        for (Cause each : Cause.values()) {
            byCause.put(each, 0L);
        }
    }

    synchronized void note(String by, Failure failure, double ms) {
        if (failure == null) {
            answered++;
        } else {
            fallbacks++;
            byCause.merge(failure.cause, 1L, Long::sum);
        }
        decidedBy = by;
        cause = failure == null ? "" : failure.cause.name();
        message = failure == null ? "" : failure.getMessage();
        lastMs = ms;
        maxMs = Math.max(maxMs, ms);
    }

    synchronized void serves(String name) {
        assignor = name;
    }

    @Override
    public synchronized long getDecisions() {
        return answered + fallbacks;
    }

    @Override
    public synchronized long getAnswered() {
        return answered;
    }

    @Override
    public synchronized long getFallbacks() {
        return fallbacks;
    }

    @Override
    public synchronized Map<String, Long> getFallbacksByCause() {
        Map<String, Long> told = new LinkedHashMap<>();
        byCause.forEach((each, count) -> told.put(each.name(), count));
        return told;
    }

    @Override
    public synchronized String getLastDecidedBy() {
        return decidedBy;
    }

    @Override
    public synchronized String getLastCause() {
        return cause;
    }

    @Override
    public synchronized String getLastMessage() {
        return message;
    }

    @Override
    public synchronized double getLastLatencyMs() {
        return lastMs;
    }

    @Override
    public synchronized double getMaxLatencyMs() {
        return maxMs;
    }

    @Override
    public String getBreakerState() {
        return breaker.state(System.nanoTime());
    }

    @Override
    public synchronized String getAssignor() {
        return assignor;
    }
}
