"""The classic protocol: members that join and sync, and a leader that asks the assignor."""
