"""How long our assignors take beside official Kafka's: `make bench`."""
