"""The search of ``plan roll --best`` beside full enumeration, and its bound and time for more instances."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from functools import partial
from statistics import median
from typing import Any

from assignor_lab.planning.in_processes import in_processes
from assignor_lab.planning.orders.aims import DURATION, aims_of
from assignor_lab.planning.orders.group import OrderedGroup
from assignor_lab.planning.orders.order import Conditions, Order
from assignor_lab.planning.orders.search import FoundOrder, OrderSearch, search
from tests.planning.ordered_groups import all_orders, group_document, ordered, ordered_of_kind

_DRAWS = 3
#: Tasks of each instance, changes of the group, and True: members leave.
_ENUMERATED: Sequence[tuple[list[int], dict[str, Any], bool]] = (
    ([3, 3, 3], {}, False), ([3, 1, 2], {"static": True}, False), ([2, 2, 2], {}, True),
    ([2, 2, 2, 2], {}, False), ([5, 1, 2, 4], {}, False), ([3, 3, 3, 3], {"static": True}, False),
    ([2, 2, 2, 2], {}, True), ([1, 1, 1, 1, 1], {"static": True}, False), ([1, 1, 1, 1, 1], {}, False),
    ([1] * 6, {"static": True}, False),
)  # fmt: skip
_BOUNDED: Sequence[tuple[list[int], dict[str, Any], bool]] = (
    ([2] * 12, {}, False), ([2] * 12, {"static": True}, False), ([2] * 6, {}, True),
    ([4] * 100, {}, False), ([4] * 100, {"static": True}, False),
)  # fmt: skip


#: Kinds with bounds by the steps of instances alone.
_KINDS = ("classic", "classic-static", "consumer", "consumer-static", "connect", "leave", "streams")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.orders", description=__doc__)
    parser.add_argument("--only-bounds", action="store_true", help="leave out full enumeration")
    parser.add_argument("--only-kinds", action="store_true", help="the groups of --kinds alone")
    parser.add_argument("--kinds", default=",".join(_KINDS), help="kinds of groups with bounds (%(default)s)")
    parser.add_argument("--size", type=int, default=12, help="members of these groups (%(default)s)")
    parser.add_argument("--draws", type=int, default=_DRAWS, help="plays of each of their orders (%(default)s)")
    parser.add_argument("--plays", type=int, default=2_000, help="most plays of each of their searches (%(default)s)")
    options = parser.parse_args()
    print("| group | orders | best of all, s | found, s | bound, s | plays | seconds |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    if not options.only_bounds and not options.only_kinds:
        for loads, changes, leave in _ENUMERATED:
            print(_row(loads, changes, leave=leave, is_enumerated=True), flush=True)
    for loads, changes, leave in () if options.only_kinds else _BOUNDED:
        print(_row(loads, changes, leave=leave, is_enumerated=False), flush=True)
    for kind in options.kinds.split(","):
        print(_row_of(kind, options.size, options.draws, options.plays), flush=True)


def _row(loads: list[int], changes: dict[str, Any], *, leave: bool, is_enumerated: bool) -> str:
    group = ordered(group_document(loads, **changes), leave=leave)
    how = OrderSearch(draws=_DRAWS, tolerance=0.0 if is_enumerated else 0.01, processes=os.cpu_count() or 1)
    begun = time.monotonic()
    found = search(group, [Conditions()], aims_of(DURATION, ()), how)
    seconds = time.monotonic() - begun
    reached = "none" if found.best is None else f"{found.best.figures[DURATION]:.3f}"
    orders, best = "", ""
    if is_enumerated:
        values = list(_enumerated(group, found, how))
        orders, best = str(len(values)), f"{min(value for value in values if value is not None):.3f}"
    form = "static" if changes else "LEAVE_GROUP" if leave else "dynamic"
    name = f"{len(loads)} {form}, tasks {'/'.join(map(str, loads)) if len(set(loads)) > 1 else loads[0]}"
    return f"| {name} | {orders} | {best} | {reached} | {found.bound:.3f} | {found.plays} | {seconds:.1f} |"


def _row_of(kind: str, size: int, draws: int, plays: int) -> str:
    how = OrderSearch(draws=draws, plays=plays, processes=os.cpu_count() or 1)
    begun = time.monotonic()
    found = search(ordered_of_kind(kind, size), [Conditions()], aims_of(DURATION, ()), how)
    seconds = time.monotonic() - begun
    reached = "none" if found.best is None else f"{found.best.figures[DURATION]:.3f}"
    of_alike = "not proved" if found.alike_bound is None else "proved for alike instances"
    proof = "" if found.is_proved else f" ({of_alike})"
    return f"| {size} {kind} | | | {reached}{proof} | {found.bound:.3f} | {found.plays} | {seconds:.1f} |"


def _enumerated(group: OrderedGroup, found: FoundOrder, how: OrderSearch) -> Iterator[float | None]:
    """The duration of each order; ``None``: a limit does not allow it."""
    orders = [Order(batches) for batches in all_orders(group.names)]
    trials = list(in_processes(partial(_trial, group, orders), len(orders) * how.draws, how.processes))
    for place in range(len(orders)):
        own = trials[place * how.draws : (place + 1) * how.draws]
        figures = {name: median(each.figures[name] for each in own) for name in own[0].figures}
        yield figures[DURATION] if found.aims.allows(figures) else None


def _trial(group: OrderedGroup, orders: Sequence[Order], number: int) -> Any:
    return group.trial(orders[number // _DRAWS], number % _DRAWS)


if __name__ == "__main__":
    main()
