"""The classic protocol: members that join and sync, and a leader that calls the assignor."""
