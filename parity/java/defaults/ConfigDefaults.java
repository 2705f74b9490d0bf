import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;

/** Prints the keys of classes of configuration with their defaults: class, key and default, separated by tabs. */
final class ConfigDefaults {
    private ConfigDefaults() {}

    public static void main(String[] names) {
        for (String name : names) {
            try {
                Class<?> found = Class.forName(name);
                TreeMap<String, String> defaults = new TreeMap<>();
                for (Field field : found.getDeclaredFields()) {
                    if (Modifier.isStatic(field.getModifiers()) && field.getType() == ConfigDef.class) {
                        field.setAccessible(true);
                        add(defaults, (ConfigDef) field.get(null));
                    }
                }
                for (Method method : found.getDeclaredMethods()) {
                    boolean gives = method.getReturnType() == ConfigDef.class && method.getParameterCount() < 2;
                    if (gives && Modifier.isStatic(method.getModifiers())) {
                        method.setAccessible(true);
                        add(defaults, (ConfigDef) (method.getParameterCount() == 0
                            ? method.invoke(null) : method.invoke(null, systemOf(method.getParameterTypes()[0]))));
                    }
                }
                defaults.forEach((key, value) -> System.out.println(name + "\t" + key + "\t" + value));
            } catch (ReflectiveOperationException | LinkageError error) {
                System.err.println(name + " is not read: " + error);
            }
        }
    }

    /** Connect's workers give their algorithms: {@code Crypto.SYSTEM}. */
    private static Object systemOf(Class<?> type) throws ReflectiveOperationException {
        Field system = type.getDeclaredField("SYSTEM");
        system.setAccessible(true);
        return system.get(null);
    }

    private static void add(TreeMap<String, String> defaults, ConfigDef definition) {
        if (definition != null) {
            definition.configKeys().forEach((key, held) -> {
                Object value = held.hasDefault() ? held.defaultValue : "(required)";
                defaults.put(key, String.valueOf(value).replace("\n", " ").replace("\t", " "));
            });
        }
    }
}
