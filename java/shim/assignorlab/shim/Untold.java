package assignorlab.shim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** Decisions of which the Python side has not been told, for it keeps the log of all; the oldest go where there are many. */
final class Untold {
    private static final int MOST = 100;
    private static final long MOST_CHARACTERS = 16_000_000;

    private final Deque<String> documents = new ArrayDeque<>();
    private long characters;

    void add(String document) {
        documents.add(document);
        characters += document.length();
        while (documents.size() > MOST || characters > MOST_CHARACTERS) {
            characters -= documents.remove().length();
        }
    }

    /** All of them, before another one; they are told now. */
    List<String> taken(String last) {
        List<String> all = new ArrayList<>(documents);
        all.add(last);
        documents.clear();
        characters = 0;
        return all;
    }
}
