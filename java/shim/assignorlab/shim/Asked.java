package assignorlab.shim;

import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One question on a thread of its own, for neither a pipe nor a socket's output knows a deadline. Whoever does not answer
 * in time has the connection closed under him, which ends the thread.
 */
final class Asked {
    private final PythonSide side;
    private volatile PythonSide.Conversation conversation;
    private volatile boolean isGivenUp;
    /** What the other end says it serves; empty before it has said so. */
    volatile String assignor = "";

    Asked(PythonSide side) {
        this.side = side;
    }

    /** The frame that answers a question; both in the same time, whatever is asked. */
    Map<?, ?> answer(Object question, long deadlineMs) throws Failure {
        FutureTask<Object> work = new FutureTask<>(() -> {
            conversation = side.begin();
            if (isGivenUp) {
                conversation.abort();
                throw new Failure(Cause.DEADLINE, "it was given up");
            }
            assignor = conversation.assignor();
            return conversation.ask(question);
        });
        start(work);
        long allowedMs = deadlineMs + side.startMs();
        Object frame;
        try {
            frame = work.get(allowedMs, TimeUnit.MILLISECONDS);
        } catch (TimeoutException error) {
            giveUp();
            throw new Failure(Cause.DEADLINE, "no answer within " + allowedMs + " ms");
        } catch (InterruptedException error) {
            giveUp();
            Thread.currentThread().interrupt();
            throw new Failure(Cause.DEADLINE, "the wait for an answer was interrupted");
        } catch (ExecutionException error) {
            if (error.getCause() instanceof Failure) {
                throw (Failure) error.getCause();
            }
            throw new Failure(Cause.SHIM, "asking failed: " + error.getCause());
        }
        if (frame instanceof Map) {
            return (Map<?, ?>) frame;
        }
        throw new Failure(Cause.NONSENSE, "a frame holds no object");
    }

    /** Says what became of the answer; nobody waits for it, and a failure is of no consequence. */
    void tell(Object verdict) {
        PythonSide.Conversation open = conversation;
        if (open == null || isGivenUp) {
            return;
        }
        FutureTask<Object> work = new FutureTask<>(() -> {
            try {
                open.tell(verdict);
            } finally {
                open.close();
            }
            return null;
        });
        start(work);
        conversation = null;
    }

    private void giveUp() {
        isGivenUp = true;
        PythonSide.Conversation open = conversation;
        if (open != null) {
            open.abort();
        }
    }

    private static void start(FutureTask<?> work) {
        Thread thread = new Thread(work, "assignor-lab-ask");
        thread.setDaemon(true);
        thread.start();
    }
}
