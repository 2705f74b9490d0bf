package assignorlab.driver;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Loads an assignor and what it brings along, before what lies on the JVM's class path: its libraries need not be
 * Kafka's. What the two talk in, Kafka itself, is the class path's.
 */
final class AssignorLoader extends URLClassLoader {
    private static final String[] SHARED = {"java.", "assignorlab.", "org.apache.kafka.", "org.slf4j."};

    static {
        registerAsParallelCapable();
    }

    AssignorLoader(URL[] jars, ClassLoader parent) {
        super("assignor", jars, parent);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> found = findLoadedClass(name);
            if (found == null && !isShared(name)) {
                try {
                    found = findClass(name);
                } catch (ClassNotFoundException error) {
                    found = super.loadClass(name, false);
                }
            }
            if (found == null) {
                found = super.loadClass(name, false);
            }
            if (resolve) {
                resolveClass(found);
            }
            return found;
        }
    }

    @Override
    public URL getResource(String name) {
        URL found = findResource(name);
        return found == null ? super.getResource(name) : found;
    }

    @Override
    public Enumeration<URL> getResources(String name) throws IOException {
        Set<URL> found = new LinkedHashSet<>(Collections.list(findResources(name)));
        found.addAll(Collections.list(getParent().getResources(name)));
        return Collections.enumeration(found);
    }

    private static boolean isShared(String name) {
        for (String start : SHARED) {
            if (name.startsWith(start)) {
                return true;
            }
        }
        return false;
    }
}
