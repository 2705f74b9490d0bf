package assignorlab.shim;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A child process that answers by its standard input and output, kept for the next question. It ends when this process
 * does, however that ends: its input is closed then.
 */
final class Child implements PythonSide {
    private static final long STOP_SECONDS = 2;

    private final List<String> command;
    private final long startMs;
    private volatile Talk talk;

    Child(List<String> command, long startMs) {
        this.command = command;
        this.startMs = startMs;
        Runtime.getRuntime().addShutdownHook(new Thread(this::stop, "assignor-lab-stop"));
    }

    @Override
    public long startMs() {
        Talk last = talk;
        return last != null && last.isGreeted && last.lives() ? 0 : startMs;
    }

    @Override
    public Conversation connect() throws Failure {
        Talk last = talk;
        if (last != null && last.lives()) {
            return last;
        }
        try {
            talk = new Talk(new ProcessBuilder(command).redirectError(Redirect.INHERIT).start());
        } catch (IOException error) {
            throw new Failure(Cause.CONNECT, "the child cannot be started: " + error.getMessage());
        }
        return talk;
    }

    private void stop() {
        Talk last = talk;
        if (last != null) {
            last.stop();
        }
    }

    private static final class Talk extends FrameConversation {
        private final Process process;
        private volatile boolean isGreeted;
        private volatile boolean isGivenUp;

        Talk(Process process) {
            super(process.getInputStream(), process.getOutputStream());
            this.process = process;
        }

        boolean lives() {
            return !isGivenUp && process.isAlive();
        }

        @Override
        public void greet() throws Failure {
            if (isGreeted) {
                return;
            }
            try {
                helloIn(read());
                isGreeted = true;
            } catch (Failure error) {
                abort();
                throw new Failure(error.cause == Cause.BROKEN_OFF ? Cause.CONNECT : error.cause,
                    "the child did not say what it serves: " + error.getMessage());
            }
        }

        @Override
        public Object ask(String document) throws Failure {
            try {
                return super.ask(document);
            } catch (Failure error) {
                // Half a frame may be on its way: nothing that follows could be told from it.
                abort();
                throw error;
            }
        }

        @Override
        public void close() {
            // It is kept.
        }

        @Override
        public void abort() {
            isGivenUp = true;
            process.destroyForcibly();
        }

        void stop() {
            process.destroy();
            try {
                if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                }
            } catch (InterruptedException error) {
                process.destroyForcibly();
            }
        }
    }
}
