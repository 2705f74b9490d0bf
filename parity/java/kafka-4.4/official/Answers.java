package official;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Kafka 4.4: Streams, Connect, and the broker for Streams groups. */
final class Answers implements Answering {
    @Override
    public ObjectNode row(ObjectMapper json, JsonNode request, String assignor) {
        JsonNode scenario = request.get("scenario");
        switch (scenario.get("kind").asText()) {
            case "streams-group":
                return Groups.row(json, scenario, assignor);
            case "connect":
                return Histories.row(json, scenario, assignor);
            case "streams-reconciliation":
                return Reconciliations.row(json, scenario, assignor);
            default:
                return StreamsAnswers.row(json, request, assignor);
        }
    }

    @Override
    public long[] nanoseconds(String assignor, JsonNode scenario) {
        switch (scenario.get("kind").asText()) {
            case "connect":
                return Histories.nanoseconds(scenario);
            case "streams-group":
                return Answering.nanoseconds(new Groups(scenario)::assigned);
            default:
                return StreamsAnswers.nanoseconds(assignor, scenario);
        }
    }
}
