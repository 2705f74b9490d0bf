import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Plain consumers of several groups in one process. Commands on the standard input: "start NAME key=value ...", "pause
 * NAME ms", "stop NAME". Keys are those of consumers, and "topics", "pattern", "regex" or "share". Each change of an
 * assignment, each pause and each close is a line.
 */
public class PlainConsumers {
    private static final Map<String, Member> MEMBERS = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.trim().split(" ");
            switch (words[0]) {
                case "start" -> start(words[1], Arrays.copyOfRange(words, 2, words.length));
                case "pause" -> MEMBERS.get(words[1]).pauseMs = Long.parseLong(words[2]);
                case "stop" -> MEMBERS.remove(words[1]).end();
                default -> throw new IllegalArgumentException(line);
            }
        }
        System.exit(0);
    }

    private static void start(String name, String[] settings) {
        Properties properties = new Properties();
        properties.put("key.deserializer", ByteArrayDeserializer.class.getName());
        properties.put("value.deserializer", ByteArrayDeserializer.class.getName());
        for (String each : settings) {
            String[] pair = each.split("=", 2);
            properties.put(pair[0], pair[1]);
        }
        Member member = new Member(name, properties);
        MEMBERS.put(name, member);
        member.start();
    }

    private static final class Member extends Thread implements ConsumerRebalanceListener {
        private final String name;
        private final Properties properties;
        private volatile boolean ends;
        volatile long pauseMs;

        Member(String name, Properties properties) {
            this.name = name;
            this.properties = properties;
            setDaemon(true);
        }

        void end() {
            ends = true;
        }

        @Override
        public void run() {
            try {
                if (properties.remove("share") != null) {
                    share();
                } else {
                    consume();
                }
                line("closed", List.of());
            } catch (RuntimeException error) {
                System.out.println(System.currentTimeMillis() + " " + name + " failed " + error);
            }
        }

        private void consume() {
            String topics = (String) properties.remove("topics");
            String pattern = (String) properties.remove("pattern");
            String regex = (String) properties.remove("regex");
            try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(properties)) {
                if (pattern != null) {
                    consumer.subscribe(Pattern.compile(pattern), this);
                } else if (regex != null) {
                    consumer.subscribe(new SubscriptionPattern(regex), this);
                } else {
                    consumer.subscribe(Arrays.asList(topics.split(",")), this);
                }
                while (!ends) {
                    consumer.poll(Duration.ofMillis(100));
                    rest();
                }
                line("closing", List.of());
            }
        }

        private void share() {
            String topics = (String) properties.remove("topics");
            try (KafkaShareConsumer<byte[], byte[]> consumer = new KafkaShareConsumer<>(properties)) {
                consumer.subscribe(Arrays.asList(topics.split(",")));
                while (!ends) {
                    consumer.poll(Duration.ofMillis(100));
                    rest();
                }
            }
        }

        private void rest() {
            long pause = pauseMs;
            pauseMs = 0;
            if (pause == 0) {
                return;
            }
            line("stands", List.of());
            try {
                Thread.sleep(pause);
            } catch (InterruptedException error) {
                throw new IllegalStateException(error);
            }
            line("goes", List.of());
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            line("assigned", partitions);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            line("revoked", partitions);
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            line("lost", partitions);
        }

        private void line(String change, Collection<TopicPartition> partitions) {
            StringBuilder text = new StringBuilder();
            text.append(System.currentTimeMillis()).append(' ').append(name).append(' ').append(change);
            partitions.forEach(each -> text.append(' ').append(each));
            System.out.println(text);
        }
    }
}
