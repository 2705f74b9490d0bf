"""A task assignor for Java applications on the same host: frames, handshake, decisions, and their log."""
