"""The Spark side of scoring: session, executors, job, engine."""
