"""Places of standbys: different tags first (KIP-708), then an even share, then present copies, then the least load.

Processes with equal values of all tags form a *zone*. Each zone has a heap of its processes by load: a new copy costs
the number of zones and the logarithm of their size, and not the number of processes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush, heapreplace

from assignment_api.optimum import Numbered

__all__ = ["standbys_of"]

#: Zones that stay sorted for later tasks.
_MOST_LEVELS = 1_000_000

#: Of a process: its share is used up, load per thread, number.
_Entry = tuple[bool, float, int]


def standbys_of(numbered: Numbered, owners: Sequence[int], warmups: Mapping[int, int]) -> list[tuple[int, ...]]:
    """Processes of each task's standbys, none on its active process or its warm-up.

    Args:
        owners: Process of each active task.
        warmups: Task to the process of its warm-up.
    """
    standbys: list[tuple[int, ...]] = [()] * len(owners)
    if numbered.standbys:
        places = _Places(numbered, owners)
        stateful = [task for task, logged in enumerate(numbered.stateful) if logged]
        # Present copies first, so that a new one does not take their room.
        for task in stateful:
            standbys[task] = places.kept(task, owners[task], warmups.get(task, -1))
        places.rank()
        for task in stateful:
            standbys[task] = places.filled(task, owners[task], warmups.get(task, -1), standbys[task])
    return standbys


class _Places:
    """Load and zones of processes while standbys are placed."""

    def __init__(self, numbered: Numbered, owners: Sequence[int]) -> None:
        threads = numbered.problem.threads
        self._before, self._copies, self._ready = numbered.problem.before, numbered.copies, numbered.problem.ready
        self._threads, self._wanted, self._tags = threads, numbered.standbys, numbered.tags
        number = sum(numbered.stateful) * numbered.standbys
        self._share = [-(-number * each // sum(threads)) for each in threads]
        self._held = [0] * len(threads)
        self._load = [0] * len(threads)
        for owner in owners:
            self._load[owner] += 1
        zones: dict[tuple[str | None, ...], list[int]] = {}
        for process, values in enumerate(zip(*numbered.tags, strict=True) if numbered.tags else [()] * len(threads)):
            zones.setdefault(values, []).append(process)
        self._values, self._members = list(zones), list(zones.values())
        self._zone = [0] * len(threads)
        for zone, members in enumerate(self._members):
            for process in members:
                self._zone[process] = zone
        self._entries: list[_Entry] = []
        self._heaps: list[list[_Entry]] = []
        self._levels: dict[tuple[int, ...], list[dict[int, None]]] = {}

    def kept(self, task: int, owner: int, warmup: int) -> tuple[int, ...]:
        """Present copies that stay as standbys: within an even share, and with tags as different as possible."""
        before, others = self._before[task], self._copies[task]
        if not others and (not before or before == (owner,)):
            return ()
        copies = {*before, *others} - {owner, warmup}
        chosen: list[int] = []
        ready = self._ready[task]
        while copies and len(chosen) < self._wanted:
            taken = (owner, *chosen)
            ranked = []
            for process in copies:
                is_full, load, _ = self._entry(process)
                ranked.append((self._level(taken, process), is_full, process not in ready, load, process))
            level, is_full, *_, process = min(ranked)
            if is_full or level > self._first_level(taken, {*taken, warmup}):
                break
            chosen.append(process)
            copies.remove(process)
            self._held[process] += 1
        return tuple(chosen)

    def rank(self) -> None:
        """Build the heaps after all present copies are placed."""
        self._entries = [self._entry(process) for process in range(len(self._threads))]
        self._heaps = [[self._entries[process] for process in members] for members in self._members]
        for heap in self._heaps:
            heapify(heap)

    def filled(self, task: int, owner: int, warmup: int, chosen: tuple[int, ...]) -> tuple[int, ...]:
        """The standbys with new copies; fewer than wanted if the processes are too few."""
        before, copies, ready = self._before[task], self._copies[task], self._ready[task]
        while len(chosen) < self._wanted:
            blocked = (owner, warmup, *chosen)
            # A process with a copy, or a ready one, is better than the others of its zone.
            special = {*before, *copies, *ready}.difference(blocked) if copies or ready or before != (owner,) else ()
            process = self._new(owner, chosen, blocked, special, copies, before, ready)
            if process < 0:
                break
            chosen = (*chosen, process)
            self._held[process] += 1
            self._entries[process] = self._entry(process)
            heap = self._heaps[self._zone[process]]
            if heap[0][2] == process:
                heapreplace(heap, self._entries[process])
            else:
                heappush(heap, self._entries[process])
        return chosen

    def _new(
        self,
        owner: int,
        chosen: tuple[int, ...],
        blocked: tuple[int, ...],
        special: Iterable[int],
        copies: Sequence[int],
        before: Sequence[int],
        ready: Sequence[int],
    ) -> int:
        """The best process for one more copy, or -1."""
        for zones in self._by_clashes((owner, *chosen)):
            tops = [top for top in (self._top(zone, blocked) for zone in zones) if top is not None]
            if not tops:
                continue
            is_full, load, process = min(tops)
            best = is_full, True, True, load, process
            for process in special:
                if self._zone[process] in zones:
                    is_full, load, _ = self._entries[process]
                    has_copy = process in copies or process in before
                    best = min(best, (is_full, not has_copy, process not in ready, load, process))
            return best[-1]
        return -1

    def _top(self, zone: int, blocked: tuple[int, ...]) -> _Entry | None:
        """First free process of a zone; entries of an earlier load are dropped."""
        heap, entries = self._heaps[zone], self._entries
        aside: list[_Entry] = []
        found = None
        while heap:
            top = heap[0]
            if entries[top[2]] is not top:
                heappop(heap)
            elif top[2] in blocked:
                aside.append(heappop(heap))
            else:
                found = top
                break
        for entry in aside:
            heappush(heap, entry)
        return found

    def _by_clashes(self, taken: tuple[int, ...]) -> Sequence[Mapping[int, None]]:
        """Zones by the number of tag values that a copy would repeat, the smallest number first."""
        key = tuple([self._zone[process] for process in taken])
        known = self._levels.get(key)
        if known is None:
            seen = [{self._values[zone][tag] for zone in key} for tag in range(len(self._tags))]
            levels: dict[int, dict[int, None]] = {}
            for zone, values in enumerate(self._values):
                clashes = sum(value in repeated for value, repeated in zip(values, seen, strict=True))
                levels.setdefault(clashes, {})[zone] = None
            if len(self._levels) * len(self._values) > _MOST_LEVELS:
                self._levels.clear()
            known = self._levels[key] = [levels[clashes] for clashes in sorted(levels)]
        return known

    def _level(self, taken: tuple[int, ...], process: int) -> int:
        """Place of the process's zone in :meth:`_by_clashes`."""
        zone = self._zone[process]
        return next(number for number, zones in enumerate(self._by_clashes(taken)) if zone in zones)

    def _first_level(self, taken: tuple[int, ...], blocked: set[int]) -> int:
        """First level with a process that is not blocked."""
        used = Counter([self._zone[process] for process in blocked if process >= 0])
        return next(
            number
            for number, zones in enumerate(self._by_clashes(taken))
            if any(len(self._members[zone]) > used[zone] for zone in zones)
        )

    def _entry(self, process: int) -> _Entry:
        held = self._held[process]
        return held >= self._share[process], (self._load[process] + held) / self._threads[process], process
