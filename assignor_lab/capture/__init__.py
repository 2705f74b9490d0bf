"""States of real groups, from logs, recorded responses of brokers, and running clusters."""
