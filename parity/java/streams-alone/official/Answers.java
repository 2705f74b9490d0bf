package official;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** A release of which the classes of Streams alone answer. */
final class Answers implements Answering {
    @Override
    public ObjectNode row(ObjectMapper json, JsonNode request, String assignor) {
        return StreamsAnswers.row(json, request, assignor);
    }

    @Override
    public long[] nanoseconds(String assignor, JsonNode scenario) {
        return StreamsAnswers.nanoseconds(assignor, scenario);
    }
}
