package assignorlab.wire;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Frames on a stream: four bytes, the length, big-endian; then so many bytes of UTF-8, a JSON text that ends a line.
 * The Python side is {@code assignor_lab.documents.frames}.
 */
public final class Frames {
    private static final int LENGTH_BYTES = 4;

    private Frames() {}

    /** Says that what comes is no frame. */
    public static final class FrameException extends IOException {
        private static final long serialVersionUID = 1L;

        FrameException(String message) {
            super(message);
        }
    }

    /**
     * The text of the next frame; null where the stream ends before one.
     *
     * @param most longest frame that is read, in bytes
     */
    public static String read(InputStream in, int most) throws IOException {
        byte[] head = in.readNBytes(LENGTH_BYTES);
        if (head.length == 0) {
            return null;
        }
        if (head.length < LENGTH_BYTES) {
            throw new EOFException("the stream ends within a frame");
        }
        int length = 0;
        for (byte each : head) {
            length = length << 8 | each & 0xff;
        }
        if (length < 0 || length > most) {
            throw new FrameException("a frame of " + Integer.toUnsignedLong(length) + " bytes, and " + most + " are read");
        }
        byte[] content = in.readNBytes(length);
        if (content.length < length) {
            throw new EOFException("the stream ends within a frame");
        }
        return new String(content, StandardCharsets.UTF_8);
    }

    /** Writes a text as a frame, in one piece. */
    public static void write(OutputStream out, String text) throws IOException {
        byte[] content = text.getBytes(StandardCharsets.UTF_8);
        int length = content.length + 1;
        byte[] frame = new byte[LENGTH_BYTES + length];
        for (int index = 0; index < LENGTH_BYTES; index++) {
            frame[index] = (byte) (length >>> 8 * (LENGTH_BYTES - 1 - index));
        }
        System.arraycopy(content, 0, frame, LENGTH_BYTES, content.length);
        frame[frame.length - 1] = '\n';
        out.write(frame);
        out.flush();
    }
}
