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
    private Talk talk;

    Child(List<String> command, long startMs) {
        this.command = command;
        this.startMs = startMs;
        Runtime.getRuntime().addShutdownHook(new Thread(this::stop, "assignor-lab-stop"));
    }

    @Override
    public synchronized long startMs() {
        return talk == null || !talk.isGreeted || !talk.process.isAlive() ? startMs : 0;
    }

    @Override
    public synchronized Conversation begin() throws Failure {
        if (talk == null || !talk.process.isAlive()) {
            talk = null;
            try {
                Process process = new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
                talk = new Talk(process);
            } catch (IOException error) {
                throw new Failure(Cause.CONNECT, "the child cannot be started: " + error.getMessage());
            }
        }
        if (!talk.isGreeted) {
            try {
                talk.hello();
                talk.isGreeted = true;
            } catch (Failure error) {
                talk.abort();
                throw new Failure(error.cause == Cause.BROKEN_OFF ? Cause.CONNECT : error.cause,
                    String.join(" ", command) + ": it said no hello: " + error.getMessage());
            }
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
        private boolean isGreeted;

        Talk(Process process) {
            super(process.getInputStream(), process.getOutputStream());
            this.process = process;
        }

        @Override
        public Object ask(Object document) throws Failure {
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
