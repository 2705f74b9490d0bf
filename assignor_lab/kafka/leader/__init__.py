"""Leader of a classic Streams group: member messages, distribution over threads, revocation, fallback."""
