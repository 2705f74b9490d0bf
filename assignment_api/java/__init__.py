"""Java's iteration orders and hash codes that affect answers."""

from assignment_api.java.hash_table import (
    DEFAULT_CAPACITY,
    MAX_CHAIN,
    JavaHashTable,
    fits_plain,
    grown_capacity,
    iteration_order,
    iteration_order_in_set_copy,
    iteration_order_of_computed,
    iteration_order_of_set_copy,
    iteration_order_of_spreads,
    stays_plain,
)
from assignment_api.java.hashing import (
    boolean_hash,
    host_info_hash,
    int32,
    pair_hash,
    spread,
    string_hash,
    subtopology_hash,
    task_id_hash,
    topic_partition_hash,
    unnamed_task_id_hashes,
    uuid_hash,
)
from assignment_api.java.jdk import DEFAULT_JDK, JdkGeneration, table_size_for
from assignment_api.java.priority_queue import JavaPriorityQueue

__all__ = [
    "DEFAULT_CAPACITY",
    "DEFAULT_JDK",
    "MAX_CHAIN",
    "JavaHashTable",
    "JavaPriorityQueue",
    "JdkGeneration",
    "boolean_hash",
    "fits_plain",
    "grown_capacity",
    "host_info_hash",
    "int32",
    "iteration_order",
    "iteration_order_in_set_copy",
    "iteration_order_of_computed",
    "iteration_order_of_set_copy",
    "iteration_order_of_spreads",
    "pair_hash",
    "spread",
    "stays_plain",
    "string_hash",
    "subtopology_hash",
    "table_size_for",
    "task_id_hash",
    "topic_partition_hash",
    "unnamed_task_id_hashes",
    "uuid_hash",
]
