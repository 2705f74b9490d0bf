"""Where Spark finds the data source ``assignor``: ``spark.read.format("assignor")``.

PySpark imports every installed module whose name begins with ``pyspark_`` when somebody asks for a source that it does
not know, and takes its ``DefaultSource``. So nothing more than the class itself is imported here.
"""

from assignor_lab.scoring.spark.data_source.source import AssignorSource as DefaultSource

__all__ = ["DefaultSource"]
