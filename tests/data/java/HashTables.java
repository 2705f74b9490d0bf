import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Reads "capacity|hash hash ...|operations" and prints the order of a HashMap, or of a HashSet copied from the keys. */
public class HashTables {
    record Key(int id, int hash) implements Comparable<Key> {
        @Override public int hashCode() { return hash; }
        @Override public boolean equals(Object o) { return o instanceof Key k && k.id == id; }
        @Override public int compareTo(Key o) { return Integer.compare(id, o.id); }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            String[] parts = line.split("\\|", -1);
            List<Key> keys = new ArrayList<>();
            for (String h : parts[1].split(" ")) keys.add(new Key(keys.size(), Integer.parseInt(h)));
            Iterable<Key> result;
            if (parts[0].equals("set-copy")) {
                result = new HashSet<>(keys);
            } else if (parts[0].equals("map-copy")) {
                Map<Key, Integer> linked = new java.util.LinkedHashMap<>();
                for (Key k : keys) linked.put(k, 1);
                result = new HashMap<>(linked).keySet();
            } else {
                HashMap<Key, Integer> map = parts[0].isEmpty() ? new HashMap<>() : new HashMap<>(Integer.parseInt(parts[0]));
                for (String op : parts[2].split(" ")) {
                    if (op.isEmpty()) continue;
                    Key k = keys.get(Integer.parseInt(op.substring(1)));
                    switch (op.charAt(0)) {
                        case 'p' -> map.put(k, 1);
                        case 'r' -> map.remove(k);
                        case 'c' -> map.computeIfAbsent(k, absent -> 1);
                        default -> {
                            for (Iterator<Key> it = map.keySet().iterator(); it.hasNext();)
                                if (it.next().equals(k)) it.remove();
                        }
                    }
                }
                result = map.keySet();
            }
            StringBuilder out = new StringBuilder();
            for (Key k : result) out.append(out.length() == 0 ? "" : " ").append(k.id);
            System.out.println(out);
        }
    }
}
