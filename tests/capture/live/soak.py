"""A recorder with metrics beside a real broker for a long time: rolls of many groups, and two kills of the broker.

``make soak`` runs it, outside CI. It fails if a generation is missing, if the recorder's memory grows, or if a scrape
takes 100 ms or longer.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import attrs
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app
from tests.capture.live.recorded_lives import SESSION_MS, RecordedLives
from tests.connect.real_kafka import until

__all__ = ["Figures", "Soak", "faults"]

_LONG_S = 600.0
_SCRAPE_EVERY_S = 5.0
_ROLL_EVERY_S = 60.0
#: A killed broker is started again after this time.
_DOWN_S = 5.0
#: From the last roll until the recorder has to have all generations.
_SETTLES_S = 30.0
_LONGEST_SCRAPE_MS = 100.0
#: Memory of the last third of a run beside that of the second third.
_LARGEST_GROWTH = 1.2


@attrs.define
class Figures:
    """The figures of a run.

    Args:
        scrapes_ms: Duration of each scrape.
        resident_mib: Memory of the recorder at each scrape.
        recorded: Group to the generations that the recorder saved while it followed.
        present: Group to the generations that the coordinators' topic has in the end.
    """

    scrapes_ms: list[float] = attrs.field(factory=list)
    resident_mib: list[float] = attrs.field(factory=list)
    recorded: dict[str, set[int]] = attrs.field(factory=dict)
    present: dict[str, set[int]] = attrs.field(factory=dict)

    @property
    def growth(self) -> float:
        """Memory of the last third, as a multiple of that of the second third."""
        third = max(1, len(self.resident_mib) // 3)
        return statistics.median(self.resident_mib[-third:]) / statistics.median(self.resident_mib[third : 2 * third])


def faults(figures: Figures) -> Iterator[str]:
    """A sentence for each broken promise."""
    for group, present in sorted(figures.present.items()):
        missing = present - figures.recorded.get(group, set())
        if missing:
            yield f"{group}: generations {sorted(missing)} are not recorded"
    if max(figures.scrapes_ms) >= _LONGEST_SCRAPE_MS:
        yield f"a scrape took {max(figures.scrapes_ms):.0f} ms"
    if figures.growth > _LARGEST_GROWTH:
        yield f"the recorder's memory grew to {figures.growth:.2f} times"


class Soak(RecordedLives):
    """Groups of both protocols, in two processes.

    Args:
        directory: Folder of all files.
        groups: Number of groups; every second one speaks the streams protocol.
    """

    def __init__(self, directory: Path, groups: int) -> None:
        super().__init__(directory, "4.3")
        self.groups = [f"group-{number:02}" for number in range(groups)]

    def soak(self, minutes: float) -> Figures:
        """Runs for some minutes, and reads both recordings."""
        figures = Figures()
        self.start_broker()
        self.create_input(2)
        for name in ("p1", "p2"):
            self.start_all(name)
        until(lambda: self._stable() == len(self.groups), "all groups", _LONG_S, 2.0)
        self._record_all()
        begin = time.monotonic()
        end = begin + 60 * minutes
        kills = [begin + 60 * minutes * share for share in (1 / 3, 2 / 3)]
        roll_at, number = begin + _ROLL_EVERY_S / 2, 0
        while (now := time.monotonic()) < end:
            if kills and now >= kills[0]:
                kills.pop(0)
                self._bounce_broker()
            elif now >= roll_at:
                name = ("p1", "p2")[number % 2]
                self.stop(name)
                self.start_all(name)
                roll_at, number = time.monotonic() + _ROLL_EVERY_S, number + 1
            self._scrape(figures)
            time.sleep(_SCRAPE_EVERY_S)
        until(lambda: self._stable() == len(self.groups), "all groups after the last roll", _LONG_S, 2.0)
        time.sleep(_SETTLES_S)
        self.stop("recorder")
        for name in ("p1", "p2"):
            self.kill(name)
        figures.recorded = self._generations(self.out)
        # The state of the topic now: another recorder, without following.
        fresh = self.directory / "fresh"
        arguments = ["record", "--bootstrap-server", self.address, "--all", "--out", str(fresh)]
        CliRunner().invoke(build_app(arguments), arguments, catch_exceptions=False)
        figures.present = self._generations(fresh)
        return figures

    def start_all(self, name: str) -> None:
        """Starts an instance of each group, in one process."""
        arguments: list[str] = []
        for number, group in enumerate(self.groups):
            protocol = {"group.protocol": "streams"} if number % 2 else {"consumer.session.timeout.ms": SESSION_MS}
            arguments += ["--"] * bool(arguments)
            arguments += self.settings_of(f"{name}-{group}", group, {"num.stream.threads": 1, **protocol})
        self._spawn(name, "384m", "OrdersApplication", *arguments)

    def _record_all(self) -> None:
        arguments = self.recording("--follow", "--sample-every", "10s", "--metrics", f":{self.metrics_port}")
        self._spawn_command("recorder", [str(Path(sys.executable).with_name("assignor")), *arguments])
        until(lambda: len(self.metric("assignor_group_members")) == len(self.groups), "the metrics", _LONG_S, 2.0)

    def _bounce_broker(self) -> None:
        self.kill("broker")
        time.sleep(_DOWN_S)
        config = self.directory / "broker.properties"
        self._spawn_command("broker", [*self._broker_java("128m"), "kafka.Kafka", str(config)])
        until(self._has_brokers, "the broker again", _LONG_S)

    def _scrape(self, figures: Figures) -> None:
        recorder = self.processes["recorder"]
        assert recorder.poll() is None, f"the recorder ended: see {self.directory / 'recorder'}.out"
        begin = time.perf_counter()
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=30) as reply:
            reply.read()
        figures.scrapes_ms.append(1000 * (time.perf_counter() - begin))
        status = Path(f"/proc/{recorder.pid}/status").read_text()
        (resident,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
        figures.resident_mib.append(int(resident) / 1024)

    def _stable(self) -> int:
        arguments = ["groups", "--bootstrap-server", self.address, "--json"]
        told = CliRunner().invoke(build_app(arguments), arguments)
        if told.exit_code:
            return 0
        return sum(each["state"] == "Stable" and each["processes"] == 2 for each in json.loads(told.stdout))

    def _generations(self, folder: Path) -> dict[str, set[int]]:
        found = {}
        for group in self.groups:
            lines = (folder / group / "history.jsonl").read_text().splitlines()
            found[group] = {json.loads(line)["generation"] for line in lines}
        return found


def main() -> int:
    """Runs the soak, and prints its figures and faults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--groups", type=int, default=20)
    parser.add_argument("--out", type=Path, help="folder to keep; by default a temporary one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.out or Path(temporary)
        directory.mkdir(parents=True, exist_ok=True)
        made = Soak(directory, options.groups)
        try:
            figures = made.soak(options.minutes)
        finally:
            made.close()
    ordered = sorted(figures.scrapes_ms)
    print(
        f"{sum(map(len, figures.present.values()))} generations of {len(figures.present)} groups in the topic, "
        f"{sum(map(len, figures.recorded.values()))} recorded\n"
        f"{len(ordered)} scrapes: median {statistics.median(ordered):.0f} ms, longest {ordered[-1]:.0f} ms\n"
        f"memory {min(figures.resident_mib):.0f} to {max(figures.resident_mib):.0f} MiB, last third "
        f"{figures.growth:.2f} times the second"
    )
    found = list(faults(figures))
    for sentence in found:
        print(f"fault: {sentence}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
