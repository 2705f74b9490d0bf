package assignorlab.shim;

/** Why a decision was not the assignor's; the names are those of JMX, of log lines and of the decision log. */
public enum Cause {
    /** The application's settings of the shim cannot be used. */
    SETTINGS,
    /** Kafka did not tell the state of the application. */
    STATE,
    /** The circuit breaker is open: it failed too often of late, and is not asked. */
    BREAKER_OPEN,
    /** Nobody listens, there is no port file, or the child process cannot be started. */
    CONNECT,
    /** What listens there does not know the token, or speaks another version. */
    HANDSHAKE,
    /** There was no answer in time. */
    DEADLINE,
    /** The connection was closed before the answer was complete. */
    BROKEN_OFF,
    /** What came is no answer. */
    NONSENSE,
    /** The Python side did not ask the assignor, for example because it is busy. */
    REFUSED,
    /** The assignor failed: it raised, hung, or its answer was refused on the Python side. */
    ASSIGNOR,
    /** Kafka's own validation refuses the answer, or it leaves a task to nobody. */
    INVALID,
    /** A fault of the shim's own. */
    SHIM
}
