import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.stream.Collectors;

/** Reads "priority ...|operations" and prints the array of a PriorityQueue of 0, 1, 2, ... by priority, and what was polled. */
public class PriorityQueues {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            String[] parts = line.split("\\|", -1);
            List<Integer> priorities = new ArrayList<>();
            for (String p : parts[0].split(" ")) priorities.add(Integer.parseInt(p));
            PriorityQueue<Integer> queue = new PriorityQueue<>(Comparator.comparing(priorities::get));
            List<Integer> polled = new ArrayList<>();
            for (String operation : parts[1].split(" ")) {
                if (operation.isEmpty()) continue;
                String[] numbers = operation.substring(1).split("=");
                switch (operation.charAt(0)) {
                    case 'o' -> queue.offer(Integer.parseInt(numbers[0]));
                    case 'r' -> queue.remove(Integer.valueOf(numbers[0]));
                    case 'p' -> polled.add(queue.poll());
                    default -> priorities.set(Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1]));
                }
            }
            System.out.println(text(polled) + "|" + text(queue));
        }
    }

    static String text(Collection<Integer> numbers) {
        return numbers.stream().map(n -> n == null ? "-1" : n.toString()).collect(Collectors.joining(" "));
    }
}
