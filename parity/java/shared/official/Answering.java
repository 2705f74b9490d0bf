package official;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** The classes of one release of Kafka. Each release has an {@code Answers} that is this. */
interface Answering {
    /** The result row of format 1 that an assignor gives for the scenario of a request. */
    ObjectNode row(ObjectMapper json, JsonNode request, String assignor);

    /** How long the call of an assignor alone took on fresh objects; of a history, each of its rounds. */
    long[] nanoseconds(String assignor, JsonNode scenario);

    /** How long a call took. */
    static long[] nanoseconds(Runnable call) {
        long begin = System.nanoTime();
        call.run();
        return new long[] {System.nanoTime() - begin};
    }

    /** The processor time of a call: what other processes do does not count. */
    static long[] processorNanoseconds(Runnable call) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long begin = threads.getCurrentThreadCpuTime();
        call.run();
        return new long[] {threads.getCurrentThreadCpuTime() - begin};
    }
}
