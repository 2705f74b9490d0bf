"""One model of a group's topology, resolved from a description, the brokers' topics and the members' metadata."""
