"""Groups of Kafka Connect workers: histories of rebalances, and simulated episodes."""
