package official;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Kafka 4.4: what the broker does for Streams groups. */
final class Answers implements Answering {
    @Override
    public ObjectNode row(ObjectMapper json, JsonNode request, String assignor) {
        JsonNode scenario = request.get("scenario");
        return scenario.get("kind").asText().equals("streams-reconciliation")
            ? Reconciliations.row(json, scenario, assignor)
            : Groups.row(json, scenario, assignor);
    }

    @Override
    public long[] nanoseconds(String assignor, JsonNode scenario) {
        return Answering.nanoseconds(new Groups(scenario)::assigned);
    }
}
