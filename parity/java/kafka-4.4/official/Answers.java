package official;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Kafka 4.4: the assignor of Streams groups on the broker. */
final class Answers implements Answering {
    @Override
    public ObjectNode row(ObjectMapper json, JsonNode request, String assignor) {
        return Groups.row(json, request.get("scenario"), assignor);
    }

    @Override
    public long[] nanoseconds(String assignor, JsonNode scenario) {
        return Answering.nanoseconds(new Groups(scenario)::assigned);
    }
}
