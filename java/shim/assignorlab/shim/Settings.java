package assignorlab.shim;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** The application's settings of the shim; a value that cannot be used is a problem, and the default holds in its place. */
final class Settings {
    static final String PREFIX = "assignor.lab.";
    private static final List<String> FALLBACKS = List.of("sticky", "previous");
    private static final List<String> RACKS = List.of("auto", "always", "never");
    /** Share of {@code max.poll.interval.ms} that a decision may take, as its divisor. */
    private static final long POLL_SHARE = 3;

    final String application;
    final String portFile;
    final List<String> command;
    final long deadlineMs;
    final long startDeadlineMs;
    final int breakerFailures;
    final long breakerOpenMs;
    final List<String> fallbacks;
    final String racks;
    final long logRepeatMs;
    /** What is wrong with them, in sentences; with a problem nobody is asked. */
    final List<String> problems;
    /** What was changed about them, likewise, and is no reason not to ask. */
    final List<String> remarks;

    private final Map<String, ?> configs;

    Settings(Map<String, ?> configs) {
        this.configs = configs;
        problems = new ArrayList<>();
        remarks = new ArrayList<>();
        Object id = configs.get("application.id");
        application = id == null ? "" : id.toString();
        portFile = text("port.file");
        String words = text("command");
        command = words == null ? null : Arrays.asList(words.split("\\s+"));
        if ((portFile == null) == (command == null)) {
            problems.add("set one of " + PREFIX + "port.file and " + PREFIX + "command");
        }
        long most = pollInterval() / POLL_SHARE;
        deadlineMs = bounded("deadline.ms", number("deadline.ms", 2_000, 1, Integer.MAX_VALUE), most);
        startDeadlineMs = bounded("start.deadline.ms", number("start.deadline.ms", 10_000, 1, Integer.MAX_VALUE), most);
        breakerFailures = (int) number("breaker.failures", 3, 1, Integer.MAX_VALUE);
        breakerOpenMs = number("breaker.open.ms", 60_000, 0, Integer.MAX_VALUE);
        logRepeatMs = number("log.repeat.ms", 3_600_000, 0, Long.MAX_VALUE);
        fallbacks = words("fallback", "sticky", FALLBACKS);
        racks = words("racks", "auto", RACKS).get(0);
        for (Object key : configs.keySet()) {
            String name = key.toString();
            if (name.startsWith(PREFIX) && !KEYS.contains(name.substring(PREFIX.length()))) {
                problems.add(name + " is no setting; these are: " + KEYS);
            }
        }
    }

    private static final List<String> KEYS = List.of(
        "port.file", "command", "deadline.ms", "start.deadline.ms", "breaker.failures", "breaker.open.ms", "fallback",
        "racks", "log.repeat.ms");

    /** What tells these settings from others. */
    String identity() {
        return application + '\n' + portFile + '\n' + command + '\n' + deadlineMs + ' ' + startDeadlineMs + ' '
            + breakerFailures + ' ' + breakerOpenMs + ' ' + fallbacks + ' ' + racks + ' ' + logRepeatMs + problems;
    }

    private String text(String key) {
        Object value = configs.get(PREFIX + key);
        String text = value == null ? "" : value.toString().trim();
        return text.isEmpty() ? null : text;
    }

    private long number(String key, long usual, long least, long most) {
        String value = text(key);
        if (value == null) {
            return usual;
        }
        try {
            long number = Long.parseLong(value);
            if (least <= number && number <= most) {
                return number;
            }
        } catch (NumberFormatException error) {
            // Told below.
        }
        problems.add(PREFIX + key + " is " + value + ": write a whole number from " + least + " to " + most);
        return usual;
    }

    private List<String> words(String key, String usual, List<String> known) {
        String value = text(key);
        if (value == null) {
            return Collections.singletonList(usual);
        }
        List<String> words = Arrays.asList(value.split("\\s*,\\s*"));
        if (words.isEmpty() || !known.containsAll(words)) {
            problems.add(PREFIX + key + " is " + value + ": choose of " + known);
            return Collections.singletonList(usual);
        }
        return words;
    }

    /** A member that does not poll for this long is put out of the group; Kafka's default where it is not told. */
    private long pollInterval() {
        Object value = configs.get("max.poll.interval.ms");
        try {
            return value == null ? 300_000 : Math.max(POLL_SHARE, Long.parseLong(value.toString()));
        } catch (NumberFormatException error) {
            return 300_000;
        }
    }

    private long bounded(String key, long value, long most) {
        if (value > most) {
            remarks.add(PREFIX + key + " is " + value + " ms, and " + most
                + " ms are taken: a third of max.poll.interval.ms is the most that a decision may take");
        }
        return Math.min(value, most);
    }
}
