package assignorlab.driver;

/** Placeholder. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {}
}
