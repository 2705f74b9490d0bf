package assignorlab.shim;

/** Says that the assignor did not decide, and why. */
final class Failure extends Exception {
    private static final long serialVersionUID = 1L;

    final Cause cause;

    Failure(Cause cause, String message) {
        super(message, null, false, false);
        this.cause = cause;
    }
}
