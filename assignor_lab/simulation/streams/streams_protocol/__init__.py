"""The streams protocol (KIP-1071): members that send heartbeats, and a broker that assigns."""
