package official;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Times the call of an assignor alone, on fresh objects every time. A request has {@code scenario}, {@code assignor},
 * {@code warmup}, {@code repeat} and {@code patience_ms}. A first call of more than a second is the only warm-up; once
 * the calls have taken longer than the patience, no further one is made, and a first call beyond it is the result.
 * Of a history of a Connect group a call is all its rounds; what is reported is the slowest round, by the median over
 * the calls.
 */
final class Benchmark {
    private static final long SLOW_NS = 1_000_000_000L;

    private Benchmark() {}

    static ObjectNode measured(ObjectMapper json, JsonNode request, Answering answers) {
        String assignor = request.get("assignor").asText();
        JsonNode scenario = request.get("scenario");
        int warmups = request.get("warmup").asInt();
        ObjectNode row = json.createObjectNode().put("id", scenario.get("id").asText()).put("assignor", assignor);
        System.gc();
        resetPeaks();
        long patienceNs = request.get("patience_ms").asLong() * 1_000_000L;
        long spentNs = 0;
        for (int call = 0; call < warmups; call++) {
            long[] ns = answers.nanoseconds(assignor, scenario);
            spentNs += Arrays.stream(ns).sum();
            if (spentNs > patienceNs) {
                return reported(row, List.of(ns));
            }
            if (Arrays.stream(ns).max().orElse(0) > SLOW_NS) {
                break;
            }
        }
        List<long[]> calls = new ArrayList<>();
        for (int call = 0; call < request.get("repeat").asInt() && (call == 0 || spentNs <= patienceNs); call++) {
            long[] ns = answers.nanoseconds(assignor, scenario);
            spentNs += Arrays.stream(ns).sum();
            calls.add(ns);
        }
        return reported(row, calls);
    }

    /** Of each call the duration of that round which is slowest over all calls. */
    private static ObjectNode reported(ObjectNode row, List<long[]> calls) {
        long[] slowest = IntStream.range(0, calls.get(0).length)
            .mapToObj(round -> calls.stream().mapToLong(ns -> ns[round]).toArray())
            .max(Comparator.comparingLong(Benchmark::median))
            .orElseThrow();
        Arrays.stream(slowest).forEach(row.putArray("times_ns")::add);
        return row.put("peak_heap_bytes", peakHeapBytes());
    }

    private static long median(long[] durations) {
        return Arrays.stream(durations).sorted().toArray()[durations.length / 2];
    }

    private static void resetPeaks() {
        ManagementFactory.getMemoryPoolMXBeans().forEach(MemoryPoolMXBean::resetPeakUsage);
    }

    /** Upper bound: the pools need not have been fullest at the same moment. */
    private static long peakHeapBytes() {
        return ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getType() == MemoryType.HEAP)
            .mapToLong(pool -> pool.getPeakUsage().getUsed())
            .sum();
    }
}
