package assignorlab.shim;

import java.util.EnumMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Log lines: one for each cause, not for each rebalance; a cause that goes on is told again after a long while. */
final class CauseLog {
    private static final Logger LOG = LoggerFactory.getLogger(AssignorLabTaskAssignor.class);

    private final String application;
    private final long repeatNanos;
    private final Map<Cause, Long> toldAt = new EnumMap<>(Cause.class);
    private final Map<Cause, Integer> untold = new EnumMap<>(Cause.class);
    private boolean isRecovered = true;
    private Long recoveryToldAt;

    CauseLog(String application, long repeatMs) {
        this.application = application;
        this.repeatNanos = Math.min(repeatMs, Long.MAX_VALUE / 1_000_000) * 1_000_000;
    }

    void remark(String sentence) {
        LOG.warn("Application {}: {}", application, sentence);
    }

    synchronized void fellBack(Failure failure, String decidedBy, long nanos) {
        isRecovered = false;
        Long last = toldAt.get(failure.cause);
        if (last != null && nanos - last < repeatNanos) {
            untold.merge(failure.cause, 1, Integer::sum);
            return;
        }
        toldAt.put(failure.cause, nanos);
        Integer before = untold.remove(failure.cause);
        LOG.warn("Application {}: the assignor did not decide ({}), {} did: {}{}. JMX counts what follows.",
            application, failure.cause, decidedBy, failure.getMessage(),
            before == null ? "" : "; " + before + " more since this was told last");
    }

    synchronized void answered(String assignor, long nanos) {
        if (isRecovered) {
            return;
        }
        isRecovered = true;
        if (recoveryToldAt == null || nanos - recoveryToldAt >= repeatNanos) {
            recoveryToldAt = nanos;
            LOG.info("Application {}: assignor {} decides again", application, assignor);
        }
    }
}
