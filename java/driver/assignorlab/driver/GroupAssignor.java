package assignorlab.driver;

import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.MemberSubscription;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;

/** Asks a broker-side assignor of consumer groups or share groups, a new one for each question. */
final class GroupAssignor implements Main.Asked {
    private final Made made;

    GroupAssignor(Class<?> assignor) throws ReflectiveOperationException {
        made = new Made(assignor);
    }

    @Override
    public boolean observes() {
        return false;
    }

    @Override
    public Map<String, Object> answer(Map<String, Object> question) throws Exception {
        PartitionAssignor assignor = (PartitionAssignor) made.configured(Read.map(question.get("configs")));
        Map<Uuid, Integer> topics = new HashMap<>();
        Read.map(question.get("topics")).forEach((id, number) -> topics.put(Uuid.fromString(id), (int) Read.number(number)));
        GroupAssignment answer = assignor.assign(new Group(question), new Topics(topics));
        if (answer == null || answer.members() == null) {
            return Map.of("invalid", "assign() returned null");
        }
        Map<String, Object> members = new LinkedHashMap<>();
        answer.members().forEach((member, target) -> {
            Map<String, Object> held = new LinkedHashMap<>();
            target.partitions().forEach((topic, partitions) -> {
                List<Object> numbers = new ArrayList<>();
                partitions.forEach(number -> numbers.add((long) number));
                if (!numbers.isEmpty()) {
                    held.put(topic.toString(), numbers);
                }
            });
            members.put(member, held);
        });
        return Map.of("members", members);
    }

    private static final class Topics implements SubscribedTopicDescriber {
        private final Map<Uuid, Integer> partitions;

        Topics(Map<Uuid, Integer> partitions) {
            this.partitions = partitions;
        }

        @Override
        public int numPartitions(Uuid topic) {
            return partitions.getOrDefault(topic, -1);
        }

        @Override
        public Set<String> racksForPartition(Uuid topic, int partition) {
            return Set.of();
        }
    }

    private static final class Group implements GroupSpec {
        private final Map<String, Member> members = new HashMap<>();
        private final Map<Uuid, Set<Integer>> assigned = new HashMap<>();
        private final Map<Uuid, Set<Integer>> assignable;
        private final SubscriptionType type;

        Group(Map<String, Object> question) {
            for (Object item : Read.list(question.get("members"))) {
                List<Object> given = Read.list(item);
                Member member = new Member(given);
                members.put((String) given.get(0), member);
                member.target.forEach((topic, held) -> assigned.computeIfAbsent(topic, one -> new HashSet<>()).addAll(held));
            }
            assignable = question.get("assignable") == null ? null : held(question.get("assignable"));
            type = (Boolean) question.get("alike") ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;
        }

        @Override
        public Collection<String> memberIds() {
            return Collections.unmodifiableSet(members.keySet());
        }

        @Override
        public SubscriptionType subscriptionType() {
            return type;
        }

        @Override
        public boolean isPartitionAssigned(Uuid topic, int partition) {
            return assigned.getOrDefault(topic, Set.of()).contains(partition);
        }

        /** Of Kafka from 4.1 on. */
        public boolean isPartitionAssignable(Uuid topic, int partition) {
            return assignable == null || assignable.getOrDefault(topic, Set.of()).contains(partition);
        }

        @Override
        public MemberSubscription memberSubscription(String id) {
            return member(id);
        }

        @Override
        public MemberAssignment memberAssignment(String id) {
            return member(id);
        }

        static Map<Uuid, Set<Integer>> held(Object given) {
            Map<Uuid, Set<Integer>> found = new HashMap<>();
            Read.map(given).forEach((topic, numbers) -> found.put(Uuid.fromString(topic), Read.numbers(numbers)));
            return found;
        }

        private Member member(String id) {
            Member found = members.get(id);
            if (found == null) {
                throw new IllegalArgumentException("Member Id " + id + " not found");
            }
            return found;
        }
    }

    private static final class Member implements MemberSubscription, MemberAssignment {
        private final Set<Uuid> topics;
        private final Map<Uuid, Set<Integer>> target;
        private final Optional<String> rack;
        private final Optional<String> instance;

        Member(List<Object> given) {
            topics = new TopicIds(Read.names(given.get(1)), (int) Read.number(given.get(2)));
            // Uniform tells a changed assignment by its type.
            target = Collections.unmodifiableMap(Group.held(given.get(3)));
            rack = Optional.ofNullable((String) given.get(4));
            instance = Optional.ofNullable((String) given.get(5));
        }

        @Override
        public Optional<String> rackId() {
            return rack;
        }

        /** Of Kafka from 3.9 on. */
        public Optional<String> instanceId() {
            return instance;
        }

        @Override
        public Set<Uuid> subscribedTopicIds() {
            return topics;
        }

        @Override
        public Map<Uuid, Set<Integer>> partitions() {
            return target;
        }
    }

    /** Ids of subscribed topics; names without a topic count in its size, as in the coordinator. */
    private static final class TopicIds extends AbstractSet<Uuid> {
        private final List<Uuid> inOrder = new ArrayList<>();
        private final Set<Uuid> ids;
        private final int names;

        TopicIds(List<String> texts, int names) {
            texts.forEach(text -> inOrder.add(Uuid.fromString(text)));
            ids = new HashSet<>(inOrder);
            this.names = names;
        }

        @Override
        public int size() {
            return names;
        }

        @Override
        public boolean contains(Object topic) {
            return ids.contains(topic);
        }

        @Override
        public Iterator<Uuid> iterator() {
            return Collections.unmodifiableList(inOrder).iterator();
        }
    }
}
