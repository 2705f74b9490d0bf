package assignorlab.shim;

/** A circuit breaker: after several failures in a row nobody is asked for a while, then one question tries again. */
final class Breaker {
    private final int failuresToOpen;
    private final long openNanos;
    private int failures;
    private long openedAt;
    private boolean isOpen;

    Breaker(int failuresToOpen, long openMs) {
        this.failuresToOpen = failuresToOpen;
        this.openNanos = openMs * 1_000_000;
    }

    /** Whether to ask now. */
    synchronized boolean permits(long nanos) {
        return !isOpen || nanos - openedAt >= openNanos;
    }

    synchronized void succeeded() {
        failures = 0;
        isOpen = false;
    }

    synchronized void failed(long nanos) {
        failures++;
        if (isOpen || failures >= failuresToOpen) {
            isOpen = true;
            openedAt = nanos;
        }
    }

    /** CLOSED, OPEN, or HALF_OPEN: the next question tries again. */
    synchronized String state(long nanos) {
        if (!isOpen) {
            return "CLOSED";
        }
        return permits(nanos) ? "HALF_OPEN" : "OPEN";
    }
}
