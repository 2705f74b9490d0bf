"""The data source ``assignor`` of Spark: ``spark.read.format("assignor")``.

For an unknown source, PySpark imports every installed module with the prefix ``pyspark_`` and uses its
``DefaultSource``. So this module imports nothing but the class.
"""

from assignor_lab.scoring.spark.data_source.source import AssignorSource as DefaultSource

__all__ = ["DefaultSource"]
