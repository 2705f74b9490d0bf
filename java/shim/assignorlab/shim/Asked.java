package assignorlab.shim;

import java.util.Collection;
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

    /**
     * The frame that answers a question.
     *
     * @throws Failure if there is none; then nothing more can be told
     */
    Map<?, ?> answer(String question, long deadlineMs) throws Failure {
        long allowedMs = deadlineMs + side.startMs();
        FutureTask<Object> work = new FutureTask<>(() -> {
            conversation = side.connect();
            if (isGivenUp) {
                conversation.abort();
            }
            conversation.greet();
            assignor = conversation.assignor();
            return conversation.ask(question);
        });
        start(work);
        try {
            Object frame = work.get(allowedMs, TimeUnit.MILLISECONDS);
            if (frame instanceof Map) {
                return (Map<?, ?>) frame;
            }
            throw new Failure(Cause.NONSENSE, "a frame holds no object");
        } catch (TimeoutException error) {
            giveUp();
            throw new Failure(Cause.DEADLINE, "no answer within " + allowedMs + " ms");
        } catch (InterruptedException error) {
            giveUp();
            Thread.currentThread().interrupt();
            throw new Failure(Cause.DEADLINE, "the wait for an answer was interrupted");
        } catch (ExecutionException error) {
            giveUp();
            if (error.getCause() instanceof Failure) {
                throw (Failure) error.getCause();
            }
            throw new Failure(Cause.SHIM, "asking failed: " + error.getCause());
        }
    }

    /** Whether there is still somebody to tell something. */
    boolean isOpen() {
        return conversation != null && !isGivenUp;
    }

    /** Says what became of the answer, and whatever else there is to say; nobody waits for it. */
    void tell(Collection<String> documents) {
        PythonSide.Conversation open = conversation;
        conversation = null;
        start(new FutureTask<>(() -> {
            try {
                for (String each : documents) {
                    open.tell(each);
                }
            } finally {
                open.close();
            }
            return null;
        }));
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
