package assignorlab.shim;

import assignorlab.wire.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A process that listens on the loopback address; a file tells its port and a token. The file is read for each
 * decision: the process may have been started again. The token never travels, for the port may be a stranger's by now.
 */
final class Listening implements PythonSide {
    private static final int NONCE_BYTES = 16;
    private static final long MOST_FILE_BYTES = 4_096;

    private final String file;
    private final int connectMs;
    private final SecureRandom random = new SecureRandom();

    Listening(String file, long connectMs) {
        this.file = file;
        this.connectMs = (int) Math.min(connectMs, Integer.MAX_VALUE);
    }

    @Override
    public long startMs() {
        return 0;
    }

    @Override
    public Conversation connect() throws Failure {
        Map<?, ?> said = portFile();
        Object port = said.get("port");
        Object token = said.get("token");
        if (!(port instanceof Long) || !(token instanceof String) || (Long) port < 1 || (Long) port > 65_535) {
            throw new Failure(Cause.CONNECT, file + " is no port file of 'assignor serve-assignor'");
        }
        Socket socket = new Socket();
        try {
            socket.setTcpNoDelay(true);
            byte[] loopback = {127, 0, 0, 1};
            socket.connect(new InetSocketAddress(InetAddress.getByAddress(loopback), ((Long) port).intValue()), connectMs);
            return new Talk(socket, (String) token, nonce());
        } catch (IOException error) {
            close(socket);
            throw new Failure(Cause.CONNECT, "nobody answers at port " + port + ", which " + file
                + " names: is 'assignor serve-assignor' running beside this instance? " + error.getMessage());
        }
    }

    private Map<?, ?> portFile() throws Failure {
        try {
            Path path = Path.of(file);
            if (Files.size(path) <= MOST_FILE_BYTES) {
                Object said = Json.read(Files.readString(path));
                if (said instanceof Map) {
                    return (Map<?, ?>) said;
                }
            }
        } catch (IOException | InvalidPathException error) {
            throw new Failure(Cause.CONNECT, file + " cannot be read: is 'assignor serve-assignor --port-file' running "
                + "beside this instance, as the same user? " + error);
        } catch (Json.FormatException error) {
            // Told below.
        }
        throw new Failure(Cause.CONNECT, file + " is no port file of 'assignor serve-assignor'");
    }

    private String nonce() {
        byte[] drawn = new byte[NONCE_BYTES];
        random.nextBytes(drawn);
        return hex(drawn);
    }

    private static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (byte each : bytes) {
            text.append(Character.forDigit(each >> 4 & 15, 16)).append(Character.forDigit(each & 15, 16));
        }
        return text.toString();
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException error) {
            // There is nothing left to close.
        }
    }

    private static final class Talk extends FrameConversation {
        private final Socket socket;
        private final String token;
        private final String nonce;

        Talk(Socket socket, String token, String nonce) throws IOException {
            super(socket.getInputStream(), socket.getOutputStream());
            this.socket = socket;
            this.token = token;
            this.nonce = nonce;
        }

        @Override
        public void greet() throws Failure {
            Map<String, Object> hello = new LinkedHashMap<>();
            hello.put("version", VERSION);
            hello.put("nonce", nonce);
            hello.put("welcome", true);
            Map<?, ?> said = helloIn(ask(Json.write(Map.of("hello", hello))));
            String theirs = String.valueOf(said.get("nonce"));
            String expected = proof(token, "server", nonce, theirs);
            if (!MessageDigest.isEqual(bytes(expected), bytes(String.valueOf(said.get("proof"))))) {
                throw new Failure(Cause.HANDSHAKE, "what listens there does not know the token of the port file");
            }
            tell(Json.write(Map.of("proof", proof(token, "client", nonce, theirs))));
            // An earlier version of the server names its assignor in its hello and sends no welcome.
            if (!said.containsKey("assignor")) {
                welcomed(read());
            }
        }

        private static String proof(String token, String role, String client, String server) throws Failure {
            try {
                Mac mac = Mac.getInstance("HmacSHA256");
                mac.init(new SecretKeySpec(bytes(token), "HmacSHA256"));
                return hex(mac.doFinal(bytes("assignor-lab " + role + " " + client + " " + server)));
            } catch (GeneralSecurityException | IllegalArgumentException error) {
                throw new Failure(Cause.HANDSHAKE, "no proof of the token can be made: " + error.getMessage());
            }
        }

        private static byte[] bytes(String text) {
            return text.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public void close() {
            Listening.close(socket);
        }

        @Override
        public void abort() {
            Listening.close(socket);
        }
    }
}
