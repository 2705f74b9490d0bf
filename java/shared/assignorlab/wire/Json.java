package assignorlab.wire;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON as plain values of the JDK: {@code Map<String, Object>} in the order of the text, {@code List<Object>},
 * {@code String}, {@code Long}, {@code Double}, {@code Boolean} and null. Whoever is asked for JSON may answer anything:
 * what is none ends in a {@link FormatException}, in bounded depth.
 */
public final class Json {
    private static final int MAX_DEPTH = 64;
    /** So many digits fit into 64 bits, whatever they are. */
    private static final int MAX_DIGITS = 18;

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Says what is wrong with a text, and where. */
    public static final class FormatException extends Exception {
        private static final long serialVersionUID = 1L;

        FormatException(String what, int at) {
            super("no JSON at character " + at + ": " + what);
        }
    }

    /** The value that a text is. */
    public static Object read(String text) throws FormatException {
        Json reader = new Json(text);
        Object value = reader.value(0);
        reader.skipSpace();
        if (reader.at != text.length()) {
            throw reader.wrong("something follows the value");
        }
        return value;
    }

    /** The text of a value: maps in their order, any {@code Iterable} as a list, any {@code Number} as it prints itself. */
    public static String write(Object value) {
        StringBuilder out = new StringBuilder(256);
        write(value, out);
        return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
        if (value == null || value instanceof Boolean || value instanceof Number) {
            out.append(value);
        } else if (value instanceof Map) {
            out.append('{');
            String separator = "";
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                out.append(separator);
                quote(String.valueOf(entry.getKey()), out);
                out.append(':');
                write(entry.getValue(), out);
                separator = ",";
            }
            out.append('}');
        } else if (value instanceof Iterable) {
            out.append('[');
            String separator = "";
            for (Object item : (Iterable<?>) value) {
                out.append(separator);
                write(item, out);
                separator = ",";
            }
            out.append(']');
        } else {
            quote(value.toString(), out);
        }
    }

    private static void quote(String text, StringBuilder out) {
        out.append('"');
        for (int index = 0; index < text.length(); index++) {
            char sign = text.charAt(index);
            if (sign == '"' || sign == '\\') {
                out.append('\\').append(sign);
            } else if (sign >= ' ' && sign < 127) {
                out.append(sign);
            } else {
                // Lone surrogates, too: they have no UTF-8.
                out.append("\\u");
                for (int shift = 12; shift >= 0; shift -= 4) {
                    out.append(Character.forDigit(sign >> shift & 15, 16));
                }
            }
        }
        out.append('"');
    }

    private Object value(int depth) throws FormatException {
        if (depth > MAX_DEPTH) {
            throw wrong("too deep");
        }
        skipSpace();
        switch (next("a value")) {
            case '{':
                return object(depth);
            case '[':
                return list(depth);
            case '"':
                return string();
            case 't':
                return word("true", Boolean.TRUE);
            case 'f':
                return word("false", Boolean.FALSE);
            case 'n':
                return word("null", null);
            default:
                at--;
                return number();
        }
    }

    private Map<String, Object> object(int depth) throws FormatException {
        Map<String, Object> found = new LinkedHashMap<>();
        if (closes('}')) {
            return found;
        }
        while (true) {
            skipSpace();
            if (next("a key") != '"') {
                throw wrong("a key is no string");
            }
            String key = string();
            skipSpace();
            if (next("a colon") != ':') {
                throw wrong("no colon after a key");
            }
            found.put(key, value(depth + 1));
            skipSpace();
            char sign = next("the rest of an object");
            if (sign == '}') {
                return found;
            }
            if (sign != ',') {
                throw wrong("no comma between members");
            }
        }
    }

    private List<Object> list(int depth) throws FormatException {
        List<Object> found = new ArrayList<>();
        if (closes(']')) {
            return found;
        }
        while (true) {
            found.add(value(depth + 1));
            skipSpace();
            char sign = next("the rest of a list");
            if (sign == ']') {
                return found;
            }
            if (sign != ',') {
                throw wrong("no comma between items");
            }
        }
    }

    private String string() throws FormatException {
        int start = at;
        while (at < text.length() && text.charAt(at) != '"' && text.charAt(at) != '\\' && text.charAt(at) >= ' ') {
            at++;
        }
        if (at < text.length() && text.charAt(at) == '"') {
            return text.substring(start, at++);
        }
        StringBuilder found = new StringBuilder(text.substring(start, at));
        while (true) {
            char sign = next("the rest of a string");
            if (sign == '"') {
                return found.toString();
            }
            if (sign < ' ') {
                throw wrong("a control character in a string");
            }
            found.append(sign == '\\' ? escaped() : sign);
        }
    }

    private char escaped() throws FormatException {
        char sign = next("an escaped character");
        switch (sign) {
            case '"':
            case '\\':
            case '/':
                return sign;
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'n':
                return '\n';
            case 'r':
                return '\r';
            case 't':
                return '\t';
            case 'u':
                int code = 0;
                for (int count = 0; count < 4; count++) {
                    int digit = Character.digit(next("four digits"), 16);
                    if (digit < 0) {
                        throw wrong("no digit in an escaped character");
                    }
                    code = code << 4 | digit;
                }
                return (char) code;
            default:
                throw wrong("an unknown escaped character");
        }
    }

    private Object number() throws FormatException {
        int start = at;
        boolean isNegative = at < text.length() && text.charAt(at) == '-';
        long whole = 0;
        int first = isNegative ? ++at : at;
        for (; at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9'; at++) {
            whole = whole * 10 + text.charAt(at) - '0';
        }
        boolean isWhole = at == text.length() || "+-.eE".indexOf(text.charAt(at)) < 0;
        if (isWhole && at > first && at - first <= MAX_DIGITS) {
            // Nearly every number: there is no text to be made of it first.
            return isNegative ? -whole : whole;
        }
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String digits = text.substring(start, at);
        try {
            if (digits.indexOf('.') < 0 && digits.indexOf('e') < 0 && digits.indexOf('E') < 0) {
                return Long.valueOf(digits);
            }
            return Double.valueOf(digits);
        } catch (NumberFormatException error) {
            at = start;
            throw wrong("no value");
        }
    }

    private Object word(String word, Object meaning) throws FormatException {
        if (!text.startsWith(word, at - 1)) {
            throw wrong("no value");
        }
        at += word.length() - 1;
        return meaning;
    }

    private boolean closes(char sign) {
        skipSpace();
        if (at < text.length() && text.charAt(at) == sign) {
            at++;
            return true;
        }
        return false;
    }

    private void skipSpace() {
        while (at < text.length() && text.charAt(at) <= ' ' && " \t\n\r".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char next(String expected) throws FormatException {
        if (at >= text.length()) {
            throw wrong("it ends where " + expected + " is expected");
        }
        return text.charAt(at++);
    }

    private FormatException wrong(String what) {
        return new FormatException(what, at);
    }
}
