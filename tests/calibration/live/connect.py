"""Records changes of real Connect clusters of three workers, and compares them with plans: ``make accuracy-live``.

Each cluster has one ``scheduled.rebalance.max.delay.ms``. Its state is imported before each change. The workers' logs
give the truth. ``--out`` keeps the recordings; ``calibration.accuracy`` reads them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from assignment_api.plugins import discover
from assignor_lab.capture.logs.connect.messages import Completed
from assignor_lab.capture.logs.connect.processes import worker_logs
from assignor_lab.planning.intervals import FIGURES
from calibration.accuracy.connect_predicting import HELD, covered, predicted_connect, rows_of_connect
from tests.calibration.live.__main__ import assignor
from tests.connect.real_kafka import RealConnect, free_ports, until

LOGGING = Path(__file__).with_name("connect-log4j2.xml")
NAMES = ("w1", "w2", "w3")
#: Connectors with their numbers of tasks.
SINKS: Mapping[str, int] = {"orders": 5, "parcels": 4, "places": 2, "notes": 1}
#: Lines of the logs that a recording keeps: the group, and starts and stops of tasks.
_KEPT = re.compile(r"Joined group|Rebalance started|Stopping task|finished initialization and start|Successfully joined"
                   r"|Was selected|left group|leaving the group|Attempt to heartbeat|\(Re-\)joining")  # fmt: skip
#: Time before a change, so that the group is at rest.
_REST_S = 6.0


@attrs.frozen
class Change:
    """A change to make.

    Args:
        leader: Place of the leader in a roll, or ``no``: the change is one of a follower.
        wait_s: From the readiness of a restarted worker to the next step.
        back_s: From a kill to the next start; ``None``: when the change is over.
    """

    name: str
    kind: str
    leader: str = "no"
    wait_s: float = 0.0
    down_s: float = 0.0
    back_s: float | None = None


#: Delay in seconds to the changes of its cluster.
CLUSTERS: Mapping[int, Sequence[Change]] = {
    0: (
        Change("roll, leader first", "roll", "first", wait_s=6),
        Change("roll, leader last", "roll", "last", wait_s=6),
        Change("kill of a follower", "kill"),
    ),
    10: (
        Change("scale-in of a follower", "scale-in"),
        Change("scale-out", "scale-out"),
        Change("kill of a follower, back after 3 s", "kill", back_s=3),
        Change("roll without waits, leader last", "roll", "last"),
    ),
    20: (
        Change("roll, leader first", "roll", "first", wait_s=25),
        Change("roll, leader last", "roll", "last", wait_s=25),
        Change("kill of a follower", "kill"),
        Change("kill of the leader", "kill", "yes"),
    ),
    60: (
        Change("roll, leader last", "roll", "last", wait_s=65),
        Change("roll without waits, leader first", "roll", "first"),
        Change("roll with short waits, leader last", "roll", "last", wait_s=10, down_s=3),
    ),
}


class Cluster(RealConnect):
    """Three real workers with connectors that write to /dev/null."""

    def __init__(self, directory: Path, delay_s: int) -> None:
        super().__init__(directory)
        self.logging = LOGGING
        self.delay_s = delay_s
        self.ports = dict(zip(NAMES, free_ports(len(NAMES)), strict=True))

    def start(self, name: str) -> None:
        self.start_worker(name, self.ports[name], self.delay_s * 1000)

    def start_all(self) -> None:
        self.start_broker()
        for name in NAMES:
            self.start(name)
        self.wait_for_workers()
        for name, tasks in SINKS.items():
            config = {"connector.class": "FileStreamSink", "topics": f"t-{name}", "file": "/dev/null"}
            self.put(name, {**config, "tasks.max": str(tasks)})
        self.wait_until_all_run()

    def wait_until_ready(self, name: str) -> None:
        until(lambda: self._is_healthy(name, self.urls[name]), f"{name} ready", pause_s=0.05)

    def wait_until_all_run(self) -> None:
        """Every job is RUNNING on a worker that lives, and no job waits for one, for some seconds."""
        calm_since: list[float] = []

        def is_calm() -> bool:
            if self._completed()[-1].message.delay_ms or not self._all_run():
                calm_since.clear()
            elif not calm_since:
                calm_since.append(time.monotonic())
            return bool(calm_since) and time.monotonic() - calm_since[0] >= _REST_S

        until(is_calm, "every job at a living worker", timeout_s=self.delay_s + 120)

    def _all_run(self) -> bool:
        living = {f"127.0.0.1:{self.ports[name]}" for name in self.living()}
        via = self.living()[0]
        for name, tasks in SINKS.items():
            status = self.status(name, via)
            if "connector" not in status or len(status["tasks"]) != tasks:
                return False
            for job in (status["connector"], *status["tasks"]):
                if job["state"] != "RUNNING" or job["worker_id"] not in living:
                    return False
        return True

    def living(self) -> list[str]:
        return [name for name in NAMES if name in self.processes and self.processes[name].poll() is None]

    def leader(self) -> str:
        """Name of the worker that leads the last generation."""
        return self._completed()[-1].message.leader.partition("-")[0]

    def _completed(self) -> list[Completed]:
        paths = [self.directory / f"{name}.out" for name in NAMES if (self.directory / f"{name}.out").exists()]
        found = [line.message for log in worker_logs(paths) for line in log.lines
                 if isinstance(line.message, Completed)]  # fmt: skip
        return sorted(found, key=lambda each: each.generation)

    def kept_lines(self, name: str) -> Iterator[str]:
        with (self.directory / f"{name}.out").open(encoding="utf-8") as file:
            yield from (line for line in file if _KEPT.search(line))


class Recorder:
    """Makes the changes of one cluster, and keeps what is needed to judge their plans."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.states: list[Any] = []
        self.changes: list[dict[str, Any]] = []
        #: Starts of processes to their readiness, in seconds.
        self.starts: list[float] = []

    def record(self, change: Change) -> None:
        cluster = self._cluster
        cluster.wait_until_all_run()
        leader = cluster.leader()
        followers = [name for name in cluster.living() if name != leader]
        file = cluster.directory / "state.jsonl"
        delay = f"scheduled.rebalance.max.delay.ms={cluster.delay_s * 1000}"
        assignor("connect", "import", "--url", cluster.urls[leader], "-c", delay, "--out", str(file))
        state = json.loads(file.read_text())
        state["id"] = change.name
        self.states.append(state)
        begin = _now()
        steps = list(self._steps(change, leader, followers))
        cluster.wait_until_all_run()
        end = _now()
        self.changes.append({
            **attrs.asdict(change), "leader_before": leader, "begin_ms": begin, "end_ms": end, "steps": steps,
        })  # fmt: skip
        if change.kind == "kill" and change.back_s is None:
            for name in NAMES:
                if name not in cluster.living():
                    cluster.start(name)
                    cluster.wait_until_ready(name)
        print(f"delay {cluster.delay_s} s, {change.name}: {(end - begin) / 1000:.0f} s", flush=True)

    def _steps(self, change: Change, leader: str, followers: list[str]) -> Iterator[dict[str, Any]]:
        cluster = self._cluster
        if change.kind == "roll":
            for name in [leader, *followers] if change.leader == "first" else [*followers, leader]:
                at = _now()
                cluster.stop(name)
                time.sleep(change.down_s)
                yield {"worker": name, "at_ms": at, **self._started(name)}
                time.sleep(change.wait_s)
        elif change.kind == "kill":
            name = leader if change.leader == "yes" else followers[-1]
            at = _now()
            cluster.kill(name)
            if change.back_s is not None:
                time.sleep(change.back_s)
                yield {"worker": name, "at_ms": at, **self._started(name)}
            else:
                yield {"worker": name, "at_ms": at}
            # The session ends in the meantime.
            time.sleep(12)
        elif change.kind == "scale-in":
            at = _now()
            cluster.stop(followers[-1])
            yield {"worker": followers[-1], "at_ms": at}
        else:
            (name,) = (each for each in NAMES if each not in cluster.living())
            at = _now()
            yield {"worker": name, "at_ms": at, **self._started(name)}

    def _started(self, name: str) -> dict[str, Any]:
        begin = _now()
        self._cluster.start(name)
        self._cluster.wait_until_ready(name)
        self.starts.append((_now() - begin) / 1000)
        return {"started_ms": begin, "ready_ms": _now()}

    def save(self, folder: Path) -> None:
        cluster = self._cluster
        folder.mkdir(parents=True, exist_ok=True)
        document = {
            "delay_ms": cluster.delay_s * 1000,
            "workers": {name: f"127.0.0.1:{port}" for name, port in cluster.ports.items()},
            "changes": self.changes,
        }
        (folder / "changes.json").write_text(json.dumps(document, indent=1) + "\n")
        _write(folder / "states.jsonl.gz", (json.dumps(each) + "\n" for each in self.states))
        for name in NAMES:
            _write(folder / f"{name}.log.gz", cluster.kept_lines(name))


def _write(path: Path, lines: Iterator[str]) -> None:
    path.write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))


def _now() -> int:
    return time.time_ns() // 1_000_000


def recorded(delay_s: int, changes: Sequence[Change], folder: Path) -> None:
    with tempfile.TemporaryDirectory() as directory:
        cluster = Cluster(Path(directory), delay_s)
        try:
            cluster.start_all()
            recorder = Recorder(cluster)
            for change in changes:
                recorder.record(change)
            recorder.save(folder)
        finally:
            cluster.close()


def main() -> int:
    """Prints a row for each step; returns 1 if too few true values are inside their intervals."""
    parser = argparse.ArgumentParser(prog="python -m tests.calibration.live.connect", description=__doc__)
    parser.add_argument("--out", type=Path, help="folder for the recordings (by default they are not kept)")
    parser.add_argument("--delay", type=int, action="append", choices=CLUSTERS, help="delay in seconds; default: all")
    parser.add_argument("--only-record", action="store_true", help="no comparison")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        root = options.out or Path(directory)
        folders = []
        for delay_s in options.delay or CLUSTERS:
            folders.append(root / f"delay-{delay_s}")
            recorded(delay_s, CLUSTERS[delay_s], folders[-1])
        if options.only_record:
            return 0
        rows = rows_of_connect(predicted_connect(discover(), folders))
    shares = []
    for figure in FIGURES:
        inside, count = covered(rows, figure)
        print(f"{figure}: {inside} of {count} steps inside")
        shares.append(inside / count)
    return 0 if min(shares) >= HELD else 1


if __name__ == "__main__":
    sys.exit(main())
