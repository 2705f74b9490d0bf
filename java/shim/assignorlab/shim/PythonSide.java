package assignorlab.shim;

/** Where Python answers: a process that listens, or a child. */
interface PythonSide {
    /** Begins a conversation; it is closed after one question. */
    Conversation begin() throws Failure;

    /** Milliseconds that {@link #begin} may take besides the deadline of a decision. */
    long startMs();

    /** One question, one answer, and what became of it. */
    interface Conversation extends AutoCloseable {
        /** What the other end says it serves. */
        String assignor();

        /** The document that answers another one. */
        Object ask(Object document) throws Failure;

        /** Says something that is not answered. */
        void tell(Object document) throws Failure;

        /** Ends it in order. */
        @Override
        void close();

        /** Ends it whatever is going on: who reads or writes is told so. Other threads call it. */
        void abort();
    }
}
