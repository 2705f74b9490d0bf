"""The leader of a classic Streams group: member messages, thread spread, revocation, fallback."""
