package assignorlab.shim;

import assignorlab.wire.Frames;
import assignorlab.wire.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Map;

/** A conversation by frames of JSON on two streams. */
abstract class FrameConversation implements PythonSide.Conversation {
    /** The protocol's version; another one is refused. */
    static final long VERSION = 1;
    private static final int MOST_BYTES = 64 << 20;

    private final InputStream in;
    private final OutputStream out;
    private String assignor = "";

    FrameConversation(InputStream in, OutputStream out) {
        this.in = in;
        this.out = out;
    }

    @Override
    public String assignor() {
        return assignor;
    }

    @Override
    public Object ask(String document) throws Failure {
        tell(document);
        return read();
    }

    @Override
    public void tell(String document) throws Failure {
        try {
            Frames.write(out, document);
        } catch (IOException error) {
            throw new Failure(Cause.BROKEN_OFF, "the connection was closed before the question was through: " + error.getMessage());
        }
    }

    /** What the other end says of itself. */
    Map<?, ?> helloIn(Object frame) throws Failure {
        Object hello = frame instanceof Map ? ((Map<?, ?>) frame).get("hello") : null;
        if (!(hello instanceof Map)) {
            throw new Failure(Cause.HANDSHAKE, "what answers there is no 'assignor serve-assignor'");
        }
        Map<?, ?> said = (Map<?, ?>) hello;
        if (!Long.valueOf(VERSION).equals(said.get("version"))) {
            throw new Failure(Cause.HANDSHAKE, "the Python side speaks version " + said.get("version")
                + " and this shim version " + VERSION + ": copy the shim anew with 'assignor java-shim'");
        }
        assignor = String.valueOf(said.get("assignor"));
        return said;
    }

    /** Takes the assignor's name, which a server sends after our proof. */
    void welcomed(Object frame) throws Failure {
        Object welcome = frame instanceof Map ? ((Map<?, ?>) frame).get("welcome") : null;
        if (!(welcome instanceof Map)) {
            throw new Failure(Cause.HANDSHAKE, "no welcome came after our proof");
        }
        assignor = String.valueOf(((Map<?, ?>) welcome).get("assignor"));
    }

    Object read() throws Failure {
        String text;
        try {
            text = Frames.read(in, MOST_BYTES);
        } catch (Frames.FrameException error) {
            throw new Failure(Cause.NONSENSE, error.getMessage());
        } catch (IOException error) {
            throw new Failure(Cause.BROKEN_OFF, "the connection broke off before an answer: " + error.getMessage());
        }
        if (text == null) {
            throw new Failure(Cause.BROKEN_OFF, "the connection was closed before an answer");
        }
        try {
            return Json.read(text);
        } catch (Json.FormatException error) {
            throw new Failure(Cause.NONSENSE, error.getMessage());
        }
    }
}
