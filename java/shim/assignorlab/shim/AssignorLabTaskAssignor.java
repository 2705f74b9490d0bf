package assignorlab.shim;

import java.util.Map;
import org.apache.kafka.streams.processor.assignment.ApplicationState;
import org.apache.kafka.streams.processor.assignment.TaskAssignor;

/**
 * Has a Python assignor decide: set {@code task.assignor.class} to this class, and {@code assignor.lab.port.file} or
 * {@code assignor.lab.command}. Whatever happens on the Python side, the application goes on by its fallback.
 *
 * <p>Kafka makes an object of this class for each rebalance; what lasts is in {@link Application}.
 */
public final class AssignorLabTaskAssignor implements TaskAssignor {
    private Application application = Application.of(Map.of());

    @Override
    public void configure(Map<String, ?> configs) {
        application = Application.of(configs);
    }

    @Override
    public TaskAssignment assign(ApplicationState state) {
        return application.decide(state);
    }
}
