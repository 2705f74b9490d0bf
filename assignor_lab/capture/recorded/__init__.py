"""States of classic Streams groups from recorded responses of brokers and their leaders' logs."""
