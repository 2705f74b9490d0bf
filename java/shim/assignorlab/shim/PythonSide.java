package assignorlab.shim;

/** Where Python answers: a process that listens, or a child. */
interface PythonSide {
    /** The other end, of which nothing is read yet. */
    Conversation connect() throws Failure;

    /** Milliseconds that the next question may take besides the deadline of a decision. */
    long startMs();

    /** One question, one answer, and what became of it; texts are JSON. */
    interface Conversation {
        /** Finds out who is at the other end. */
        void greet() throws Failure;

        /** What the other end says it serves. */
        String assignor();

        /** The document that answers another one. */
        Object ask(String document) throws Failure;

        /** Says something that is not answered. */
        void tell(String document) throws Failure;

        /** Ends it in order. */
        void close();

        /** Ends it whatever is going on: who reads or writes is told so. Other threads call it. */
        void abort();
    }
}
