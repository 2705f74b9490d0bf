package lab;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupAssignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.TaskAssignmentException;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.ApplicationState;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.assignment.TaskAssignmentUtils;
import org.apache.kafka.streams.processor.assignment.TaskAssignor;
import org.apache.kafka.streams.processor.assignment.assignors.StickyTaskAssignor;

/** Assignors that break something, and a few that do not. */
public final class Bad {
    private Bad() {}

    /** As good as Kafka's. */
    public static class Good implements TaskAssignor {
        @Override
        public TaskAssignment assign(ApplicationState application) {
            return new StickyTaskAssignor().assign(application);
        }
    }

    public static final class Hangs extends Good {
        @Override
        public TaskAssignment assign(ApplicationState application) {
            while (true) {
                Thread.onSpinWait();
            }
        }
    }

    public static final class Exits extends Good {
        @Override
        public TaskAssignment assign(ApplicationState application) {
            System.exit(3);
            return null;
        }
    }

    public static final class Eats extends Good {
        @Override
        public TaskAssignment assign(ApplicationState application) {
            List<byte[]> eaten = new ArrayList<>();
            while (true) {
                eaten.add(new byte[1 << 20]);
            }
        }
    }

    public static final class Recurses extends Good {
        @Override
        public TaskAssignment assign(ApplicationState application) {
            return assign(application);
        }
    }

    public static final class Prints extends Good {
        @Override
        public TaskAssignment assign(ApplicationState application) {
            while (true) {
                System.out.println("again and again and again and again and again and again and again and again");
            }
        }
    }

    public static final class Raises extends Good {
        @Override
        public TaskAssignment assign(ApplicationState application) {
            application.allTasks().keySet().forEach(Raises::place);
            return null;
        }

        private static void place(TaskId task) {
            try {
                Integer.parseInt("seven");
            } catch (NumberFormatException error) {
                throw new IllegalStateException("cannot place it", error);
            }
        }
    }

    public static final class Refuses extends Good {
        @Override
        public TaskAssignment assign(ApplicationState application) {
            throw new TaskAssignmentException("not now");
        }
    }

    public static final class Returns extends Good {
        @Override
        public TaskAssignment assign(ApplicationState application) {
            return null;
        }
    }

    public static final class Forgets extends Good {
        @Override
        public TaskAssignment assign(ApplicationState application) {
            List<KafkaStreamsAssignment> clients = new ArrayList<>(super.assign(application).assignment());
            clients.sort((one, other) -> one.processId().compareTo(other.processId()));
            return new TaskAssignment(clients.subList(1, clients.size()));
        }
    }

    public static final class Invents extends Good {
        @Override
        public TaskAssignment assign(ApplicationState application) {
            List<KafkaStreamsAssignment> clients = new ArrayList<>(super.assign(application).assignment());
            clients.add(KafkaStreamsAssignment.of(new ProcessId(new UUID(1, 1)), Set.of()));
            return new TaskAssignment(clients);
        }
    }

    public static final class Scribbles extends Good {
        @Override
        public TaskAssignment assign(ApplicationState application) {
            try (FileOutputStream out = new FileOutputStream(FileDescriptor.out)) {
                out.write("nothing of a frame at all, and more of it".getBytes());
                out.flush();
                return super.assign(application);
            } catch (java.io.IOException error) {
                throw new IllegalStateException(error);
            }
        }
    }

    /** Its answer is good, and its thread goes on. */
    public static final class LeavesThreads extends Good {
        @Override
        public TaskAssignment assign(ApplicationState application) {
            new Thread(() -> {
                while (true) {
                    Thread.onSpinWait();
                }
            }).start();
            return super.assign(application);
        }
    }

    public static final class CannotBeMade extends Good {
        public CannotBeMade() {
            throw new IllegalArgumentException("no");
        }
    }

    public static final class WantsStreamsConfig extends Good {
        @Override
        public void configure(Map<String, ?> configs) {
            new StreamsConfig(configs);
        }
    }

    /** Tells what it is shown by failing. */
    public static final class Tells extends Good {
        private Map<String, ?> configs;

        @Override
        public void configure(Map<String, ?> given) {
            configs = given;
        }

        @Override
        public TaskAssignment assign(ApplicationState application) {
            throw new IllegalStateException("configs " + new java.util.TreeMap<>(configs));
        }
    }

    /** Tells what became of its answer by failing. */
    public static final class Observes extends Good {
        @Override
        public void onAssignmentComputed(GroupAssignment assignment, GroupSubscription subscription, AssignmentError error) {
            throw new IllegalStateException(
                error + " " + new java.util.TreeMap<>(assignment.groupAssignment()).keySet()
                    + " " + new java.util.TreeMap<>(subscription.groupSubscription()).keySet());
        }
    }

    /** Keeps the previous tasks, by Kafka's own utilities, and comes back in ten minutes. */
    public static final class ComesBack implements TaskAssignor {
        @Override
        public TaskAssignment assign(ApplicationState application) {
            // Before the work: the driver counts whole seconds, and a busy machine may need one.
            Instant due = Instant.now().plusSeconds(600);
            Map<ProcessId, KafkaStreamsAssignment> given = TaskAssignmentUtils.identityAssignment(application);
            List<KafkaStreamsAssignment> clients = new ArrayList<>();
            for (KafkaStreamsAssignment client : new StickyTaskAssignor().assign(application).assignment()) {
                clients.add(given.isEmpty() ? client : client.withFollowupRebalance(due));
            }
            return new TaskAssignment(clients);
        }
    }

    /** What it does depends on what it did before: the first client of the second call loses a task. */
    public static final class LosesWithStandbys extends Good {
        @Override
        public TaskAssignment assign(ApplicationState application) {
            TaskAssignment answer = super.assign(application);
            for (KafkaStreamsAssignment client : answer.assignment()) {
                for (KafkaStreamsAssignment.AssignedTask task : new ArrayList<>(client.tasks().values())) {
                    if (application.kafkaStreamsStates(false).size() > 1 && task.id().partition() == 2) {
                        client.removeTask(task);
                    }
                }
            }
            return answer;
        }
    }

    /** Who gets the first task is a matter of where the objects happen to lie. */
    public static final class GoesByAddress extends Good {
        private static final class Candidate {
            private final ProcessId process;

            private Candidate(ProcessId process) {
                this.process = process;
            }
        }

        @Override
        public TaskAssignment assign(ApplicationState application) {
            Set<Candidate> candidates = new java.util.HashSet<>();
            new java.util.TreeSet<>(application.kafkaStreamsStates(false).keySet())
                .forEach(process -> candidates.add(new Candidate(process)));
            ProcessId first = candidates.iterator().next().process;
            Set<KafkaStreamsAssignment.AssignedTask> all = new java.util.HashSet<>();
            for (TaskId task : application.allTasks().keySet()) {
                all.add(new KafkaStreamsAssignment.AssignedTask(task, KafkaStreamsAssignment.AssignedTask.Type.ACTIVE));
            }
            List<KafkaStreamsAssignment> clients = new ArrayList<>();
            for (ProcessId process : application.kafkaStreamsStates(false).keySet()) {
                clients.add(KafkaStreamsAssignment.of(process, process.equals(first) ? all : Set.of()));
            }
            return new TaskAssignment(clients);
        }
    }

    public abstract static class Abstract implements TaskAssignor {}

    public static final class NeedsAnArgument extends Good {
        public NeedsAnArgument(String argument) {}
    }

    public static final class IsNone {}
}
