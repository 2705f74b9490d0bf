package official;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.apache.kafka.coordinator.group.streams.assignor.AssignmentMemberSpec;
import org.apache.kafka.coordinator.group.streams.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.streams.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.streams.assignor.GroupSpecImpl;
import org.apache.kafka.coordinator.group.streams.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor;
import org.apache.kafka.coordinator.group.streams.assignor.TaskId;
import org.apache.kafka.coordinator.group.streams.assignor.TopologyDescriber;

/** Scenarios of kind {@code streams-group}: the group coordinator's sticky assignor of Kafka 4.3. */
final class Groups {
    private final GroupSpec group;
    private final TopologyDescriber topology;

    Groups(JsonNode scenario) {
        group = new GroupSpecImpl(
            GroupDocuments.members(scenario, Groups::member), GroupDocuments.texts(scenario.get("config")));
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
            MemberAssignment target = members.getOrDefault(member, MemberAssignment.empty());
            return new GroupDocuments.Given(target.activeTasks(), target.standbyTasks(), target.warmupTasks());
        };
    }

    private static AssignmentMemberSpec member(JsonNode member) {
        return new AssignmentMemberSpec(
            GroupDocuments.text(member.get("instance_id")),
            GroupDocuments.text(member.get("rack")),
            GroupDocuments.tasks(member.get("active")),
            GroupDocuments.tasks(member.get("standby")),
            GroupDocuments.tasks(member.get("warmup")),
            member.get("process_id").asText(),
            GroupDocuments.texts(member.get("tags")),
            byTask(member.get("task_offsets")),
            byTask(member.get("task_end_offsets")));
    }

    private static Map<TaskId, Long> byTask(JsonNode fields) {
        Map<TaskId, Long> offsets = new HashMap<>();
        GroupDocuments.offsets(fields).forEach((subtopology, partitions) ->
            partitions.forEach((partition, offset) -> offsets.put(new TaskId(subtopology, partition), offset)));
        return offsets;
    }

    private static final class Described extends GroupDocuments.Topology implements TopologyDescriber {
        Described(JsonNode scenario) {
            super(scenario);
        }
    }
}
