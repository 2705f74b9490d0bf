"""The data source of Spark: states, histories and results as DataFrames, by ``spark.read.format("assignor")``."""
