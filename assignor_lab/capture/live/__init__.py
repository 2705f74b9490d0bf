"""Groups of a Kafka that runs: what there is, and how it stands. Only asks: nothing here writes, joins or commits."""
