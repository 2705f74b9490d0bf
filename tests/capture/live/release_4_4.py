"""The life of applications of Kafka 4.4.0: a broker's bounce, a static roll, a kill under exactly-once."""

from __future__ import annotations

import json
import re
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.capture.live.recorded_lives import LONG_S
from tests.capture.live.released_applications import PARTITIONS, Instances, OutputProbe, ReleasedKafka
from tests.connect.real_kafka import until

#: Group to the release of its clients: classic, with racks.
RACKED = {"rack44": "4.4", "rack43": "4.3"}
#: Static groups of the streams protocol: with a store on disk, and without state.
STATIC = {"disk": "disk", "none": "none"}
#: Exactly-once groups: with transactional stores, and without.
EXACTLY_ONCE = {"eos-on": "true", "eos-off": "false"}
#: Records of each partition before and after an orderly restart; the later ones, of 10 kB, exceed a store's memory.
RECORDS, LARGE_RECORDS = 1_000, 2_000
_JOINS = re.compile(r"^\[(\S+ \S+)\] INFO .*\(Re-\)joining group", re.MULTILINE)


class Life(ReleasedKafka):
    """Plays all events, and keeps what a plan needs and what was seen."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory, "4.4")
        #: Group to its restored records, and to the absences of its tasks and their greatest gap before, in seconds.
        self.gaps: dict[str, float] = {}
        #: Group to its epochs before and after an event.
        self.before: dict[str, list[int]] = {}
        self.after: dict[str, list[int]] = {}
        self.captures: dict[str, Path] = {}
        self.absences: dict[str, dict[int, list[float]]] = {}
        self.restored: dict[str, int] = {}
        self.start_s = self.back_s = 0.0

    def live(self) -> None:
        self.start_broker()
        self.start_second_broker()
        self.clients = Instances(self, "new", "4.4")
        older = Instances(self, "old", "4.3")
        for group, release in RACKED.items():
            self.create_topics(group, 2)
            for place, name in enumerate("ab", 1):
                where = older if release == "4.3" else self.clients
                settings = self.settings_for(f"{group}-{name}", group, client_rack=f"r{place}", replication_factor=2)
                where.start(f"{group}-{name}", group, "disk", settings)
        for group in STATIC:
            self.create_topics(group)
            for name in "abc":
                self.start_static(group, name)
        self.clients.wait_until_running("rack44-a", *(f"{group}-{name}" for group in STATIC for name in "abc"))
        older.wait_until_running("rack43-a", "rack43-b")
        for group in (*RACKED, *STATIC):
            self.fill(group, 200)
        self.captures = {group: self.captured(group) for group in (*RACKED, *STATIC)}
        self.bounce()
        for group in STATIC:
            self.roll(group)
        self.record("--all")
        self.clients.java.kill()
        older.java.kill()
        self.kill_and_return()

    def start_static(self, group: str, name: str) -> None:
        settings = self.settings_for(
            f"{group}-{name}", group, group_protocol="streams", group_instance_id=name, num_stream_threads=1
        )
        self.clients.start(f"{group}-{name}", group, STATIC[group], settings)

    def bounce(self) -> None:
        """Restarts the broker that coordinates no group."""
        self.before = {group: self.epochs(group) for group in (*RACKED, *STATIC)}
        self.stop("broker2")
        # Clients refresh their metadata each second.
        time.sleep(12)
        config = self.directory / "broker2.properties"
        self._spawn_command("broker2", [*self._broker_java("128m"), "kafka.Kafka", str(config)])
        time.sleep(25)
        self.after = {group: self.epochs(group) for group in (*RACKED, *STATIC)}

    def roll(self, group: str) -> None:
        self.before[f"roll {group}"] = self.epochs(group)
        for name in "abc":
            self.clients.close(f"{group}-{name}")
            self.start_static(group, name)
            self.clients.wait_until_running(f"{group}-{name}")
            time.sleep(3)
        self.after[f"roll {group}"] = self.epochs(group)

    def kill_and_return(self) -> None:
        """Kills the process of one instance of each group, which had once been closed in order."""
        for group in EXACTLY_ONCE:
            self.create_topics(group)
        first, other = (Instances(self, name, "4.4") for name in ("first", "other"))
        self.start_exactly_once(first, "a")
        self.start_exactly_once(other, "b")
        for group in EXACTLY_ONCE:
            self.fill(group, RECORDS)
        self.wait_for_records(RECORDS)
        for group in EXACTLY_ONCE:
            first.close(f"{group}-a")
        self.start_exactly_once(first, "a")
        for group in EXACTLY_ONCE:
            self.fill(group, LARGE_RECORDS, 10_000)
        self.wait_for_records(RECORDS + LARGE_RECORDS)
        probes = {group: OutputProbe(self.address, group) for group in EXACTLY_ONCE}
        time.sleep(15)
        for group in EXACTLY_ONCE:
            self.captures[group] = self.captured(group)
        begin = time.time()
        first.java.kill()
        first.java.wait()
        back = Instances(self, "back", "4.4")
        self.back_s = time.time() - begin
        self.start_exactly_once(back, "a")
        self.start_s = self.joined(back) - begin - self.back_s
        time.sleep(20)
        for group, probe in probes.items():
            probe.close()
            self.absences[group] = probe.absences(begin)
            self.gaps[group] = probe.longest_gap_before(begin)
            restored = back.restored()
            self.restored[group] = sum(count for name, count in restored.items() if name.startswith(f"{group}-totals"))

    def wait_for_records(self, each: int) -> None:
        wanted = each * PARTITIONS
        until(lambda: all(self.processed(group) >= wanted for group in EXACTLY_ONCE), f"{wanted} records", LONG_S)

    def start_exactly_once(self, where: Instances, name: str) -> None:
        for group, transactional in EXACTLY_ONCE.items():
            settings = self.settings_for(
                f"{group}-{name}", group, processing_guarantee="exactly_once_v2", commit_interval_ms=100,
                state_dir=self.directory / f"{group}-{name}", num_stream_threads=1,
            )  # fmt: skip
            where.start(
                f"{group}-{name}", group, "disk", [*settings, f"enable.transactional.statestores={transactional}"]
            )
        where.wait_until_running(*(f"{group}-{name}" for group in EXACTLY_ONCE))

    def joined(self, where: Instances) -> float:
        """The time of the first join, in seconds since 1970."""
        found = _JOINS.search(where.log.read_text())
        assert found is not None
        return datetime.strptime(found[1], "%Y-%m-%d %H:%M:%S,%f").astimezone().timestamp()

    def planned(self, group: str, plan: str, *words: object) -> Any:
        return json.loads(self.assignor("plan", self.captures[group], *plan.split(), "--json", "--no-variants", *words))
