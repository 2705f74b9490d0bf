package assignorlab.driver;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What an assignor raised, as JSON: its class, what it said, and where, from the assignor's first frame on. */
final class Raised {
    private static final String OURS = "assignorlab.driver.";
    /** Frames that are kept of each cause: the first ones, and the last ones. */
    private static final int HALF = 10;
    private static final int MOST_CAUSES = 3;

    private Raised() {}

    static Map<String, Object> document(Throwable error) {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("type", error.getClass().getSimpleName());
        document.put("message", message(error));
        List<String> lines = new ArrayList<>(lines(error));
        Throwable cause = cause(error);
        for (int count = 0; cause != null && count < MOST_CAUSES; count++) {
            lines.add("caused by " + cause.getClass().getName() + ": " + message(cause));
            lines.addAll(lines(cause));
            cause = cause(cause);
        }
        document.put("where", String.join("\n", lines));
        return document;
    }

    private static String message(Throwable error) {
        try {
            return error.getMessage();
        } catch (Throwable another) {
            return "(no message: " + another.getClass().getSimpleName() + " while it was made)";
        }
    }

    private static Throwable cause(Throwable error) {
        try {
            return error.getCause();
        } catch (Throwable another) {
            return null;
        }
    }

    /** Outermost first: the frames above ours, which called the assignor. */
    private static List<String> lines(Throwable error) {
        StackTraceElement[] trace = error.getStackTrace();
        List<String> lines = new ArrayList<>();
        for (StackTraceElement frame : trace) {
            if (frame.getClassName().startsWith(OURS)) {
                break;
            }
            lines.add(line(frame));
        }
        while (!lines.isEmpty() && lines.get(lines.size() - 1).contains(" in java.lang.reflect.")) {
            lines.remove(lines.size() - 1);
        }
        lines.removeIf(line -> line.contains(" in jdk.internal.reflect."));
        Collections.reverse(lines);
        if (error instanceof StackOverflowError && lines.size() > HALF) {
            // Where exactly the end of the stack is reached differs from run to run.
            return new ArrayList<>(lines.subList(0, HALF));
        }
        if (lines.size() > 2 * HALF) {
            List<String> kept = new ArrayList<>(lines.subList(0, HALF));
            kept.add("... more frames ...");
            kept.addAll(lines.subList(lines.size() - HALF, lines.size()));
            return kept;
        }
        return lines;
    }

    private static String line(StackTraceElement frame) {
        String file = frame.getFileName() == null ? "(unknown)" : frame.getFileName();
        String number = frame.getLineNumber() > 0 ? ":" + frame.getLineNumber() : "";
        return file + number + " in " + frame.getClassName() + "." + frame.getMethodName();
    }
}
