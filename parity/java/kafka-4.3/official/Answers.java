package official;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Kafka 4.3: Streams, Connect, the broker for Streams groups, and plain consumers. */
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
            case "consumer":
                return LeaderGroups.row(json, scenario, assignor);
            case "consumer-group", "share-group":
                return BrokerGroups.row(json, scenario, assignor);
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
            case "consumer":
                return Answering.processorNanoseconds(new LeaderGroups(scenario, assignor)::assigned);
            case "consumer-group", "share-group":
                BrokerGroups group = new BrokerGroups(scenario);
                return Answering.processorNanoseconds(() -> group.assigned(assignor));
            default:
                return StreamsAnswers.nanoseconds(assignor, scenario);
        }
    }
}
