package assignorlab.driver;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.Map;
import org.apache.kafka.common.Configurable;

/** New objects of an assignor's class, as Kafka makes them. */
final class Made {
    private final Constructor<?> constructor;

    Made(Class<?> assignor) throws ReflectiveOperationException {
        constructor = assignor.getDeclaredConstructor();
        constructor.setAccessible(true);
    }

    /** With what its constructor raises, if it does. */
    Object instance() throws Exception {
        try {
            return constructor.newInstance();
        } catch (InvocationTargetException error) {
            if (error.getCause() instanceof Error) {
                throw (Error) error.getCause();
            }
            throw (Exception) error.getCause();
        }
    }

    /** Configured, where its class takes a configuration. */
    Object configured(Map<String, Object> configs) throws Exception {
        Object made = instance();
        if (made instanceof Configurable) {
            ((Configurable) made).configure(configs);
        }
        return made;
    }
}
