package official;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.function.Function;
import org.apache.kafka.coordinator.group.api.streams.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.streams.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.streams.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.streams.assignor.TopologyDescriber;
import org.apache.kafka.coordinator.group.streams.assignor.AssignmentConfigsImpl;
import org.apache.kafka.coordinator.group.streams.assignor.GroupSpecImpl;
import org.apache.kafka.coordinator.group.streams.assignor.MemberMetadataAndStateImpl;
import org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor;

/** Scenarios of kind {@code streams-group}: the group coordinator's sticky assignor of Kafka 4.4, behind KIP-1357. */
final class Groups {
    private final GroupSpec group;
    private final TopologyDescriber topology;

    Groups(JsonNode scenario) {
        group = new GroupSpecImpl(
            GroupDocuments.members(scenario, Groups::member),
            AssignmentConfigsImpl.fromMap(GroupDocuments.texts(scenario.get("config"))));
        topology = new Described(scenario);
    }

    static ObjectNode row(ObjectMapper json, JsonNode scenario, String assignor) {
        return GroupDocuments.row(json, scenario, assignor, () -> new Groups(scenario).given());
    }

    GroupAssignment assigned() {
        return new StickyTaskAssignor().assign(group, topology);
    }

    private Function<String, GroupDocuments.Given> given() {
        Map<String, MemberAssignment> members = assigned().members();
        return member -> {
            MemberAssignment target = members.get(member);
            return target == null
                ? GroupDocuments.Given.NOTHING
                : new GroupDocuments.Given(target.activeTasks(), target.standbyTasks(), Map.of());
        };
    }

    private static MemberMetadataAndStateImpl member(JsonNode member) {
        return new MemberMetadataAndStateImpl(
            GroupDocuments.text(member.get("instance_id")),
            GroupDocuments.text(member.get("rack")),
            member.get("process_id").asText(),
            GroupDocuments.texts(member.get("tags")),
            GroupDocuments.tasks(member.get("active")),
            GroupDocuments.tasks(member.get("standby")),
            GroupDocuments.tasks(member.get("warmup")),
            GroupDocuments.offsets(member.get("task_offsets")),
            GroupDocuments.offsets(member.get("task_end_offsets")));
    }

    private static final class Described extends GroupDocuments.Topology implements TopologyDescriber {
        Described(JsonNode scenario) {
            super(scenario);
        }
    }
}
