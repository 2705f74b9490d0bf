package official;

import org.apache.kafka.common.utils.internals.LogContext;

/** The prefix of log lines, whose class each release has in another package. */
final class Logs {
    private Logs() {}

    static LogContext context() {
        return new LogContext();
    }
}
