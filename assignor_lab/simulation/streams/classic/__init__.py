"""The classic protocol: members join and sync, and a leader assigns."""
