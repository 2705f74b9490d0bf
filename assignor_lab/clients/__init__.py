"""Assignment strategies of Kafka's client libraries, as the leader of a consumer group runs them."""
