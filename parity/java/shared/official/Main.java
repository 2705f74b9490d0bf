package official;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;

/**
 * Lets the classes of one release of Kafka answer requests, one JSON document per line on the standard input, one
 * answer per line on the standard output. The first line out says which JVM answers.
 *
 * <p>A request is {@code {"do": "answer" | "bench", "scenario": ..., ...}}. To be answered, it names the
 * {@code assignors} (also {@code utils.*} and {@code threads}) and says with {@code threads} whether the spread over
 * consumers is wanted; see {@link Benchmark} for what is in it otherwise.
 */
public final class Main {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Main() {}

    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        BufferedWriter out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
        write(out, JSON.createObjectNode()
            .put("java", System.getProperty("java.runtime.version"))
            .put("vendor", System.getProperty("java.vendor"))
            .put("feature", Runtime.version().feature()));
        Answering answers = new Answers();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode request = JSON.readTree(line);
            switch (request.get("do").asText()) {
                case "answer" -> write(out, rows(answers, request));
                case "bench" -> write(out, Benchmark.measured(JSON, request, answers));
                default -> throw new IllegalArgumentException("unknown request " + request.get("do"));
            }
        }
    }

    private static ObjectNode rows(Answering answers, JsonNode request) {
        ObjectNode answer = JSON.createObjectNode();
        ArrayNode rows = answer.putArray("rows");
        request.get("assignors").forEach(assignor -> rows.add(answers.row(JSON, request, assignor.asText())));
        return answer;
    }

    private static void write(BufferedWriter out, ObjectNode answer) throws IOException {
        out.write(JSON.writeValueAsString(answer));
        out.write('\n');
        out.flush();
    }
}
