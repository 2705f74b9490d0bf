"""A task assignor served to the Java applications beside it: frames, the handshake, decisions, and their log."""
