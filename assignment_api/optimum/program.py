"""Rows of a linear program."""

from __future__ import annotations

from typing import Any

__all__ = ["Program"]


class Program:
    """Rows of a linear program, in parts."""

    def __init__(self, np: Any, processes: int, upper: Any, columns: int) -> None:
        self._np, self._processes, self._columns = np, processes, columns
        self.upper = upper
        self.rows: list[Any] = []
        self.cols: list[Any] = []
        self.values: list[Any] = []
        self.low: list[Any] = []
        self.high: list[Any] = []
        self._next = 0

    def add(self, rows: Any, cols: Any, values: Any, low: Any, high: Any) -> None:
        """Add rows, numbered from 0, with their bounds."""
        self.rows.append(rows + self._next)
        self.cols.append(cols)
        self.values.append(values)
        self.low.append(low)
        self.high.append(high)
        self._next += len(low)

    def add_load(self, load: tuple[Any, Any, Any], threads: Any, kind: str) -> None:
        """Add a column: load per thread that no process exceeds, or each reaches."""
        np, processes = self._np, self._processes
        process, column, weight = load
        every, unlimited, zero = np.arange(processes), np.full(processes, np.inf), np.zeros(processes)
        self.add(
            np.concatenate((process, every)),
            np.concatenate((column, np.full(processes, self._columns))),
            np.concatenate((weight, -threads)),
            -unlimited if kind == "balance" else zero,
            zero if kind == "balance" else unlimited,
        )
        self.upper = np.append(self.upper, np.inf)
