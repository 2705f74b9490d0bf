"""What Kafka itself does, as plain functions and state machines: no input, no output, no clock."""
