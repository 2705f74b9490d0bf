"""Simulated Streams groups beside recorded ones: the tables of docs/explanation/streams-accuracy.md."""
