"""The streams protocol (KIP-1071): members that heartbeat, and a broker that assigns."""
