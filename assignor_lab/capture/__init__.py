"""States of groups that really ran, read from logs, recorded answers of brokers, and running clusters."""
