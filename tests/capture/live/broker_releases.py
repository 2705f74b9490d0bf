"""Answers of brokers of each release (``python -m tests.capture.live.broker_releases``, after scripts/build-brokers).

Starts a broker of each release with a classic Streams application, one of the streams protocol if the release supports
it, and a Connect worker, all with clients of 4.3.1. Runs our commands against it, and prints a table of the results.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from assignor_lab.cli.app import build_app
from benchmarks.pages import put_between
from tests.capture.live.recorded_lives import CLASSIC, CONNECT, STREAMS, RecordedLives
from tests.connect.real_kafka import until

PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "live-groups.md"
BEGIN = "<!-- written by python -m tests.capture.live.broker_releases --write: begin -->"
END = "<!-- written by python -m tests.capture.live.broker_releases --write: end -->"
#: Each release, and whether its brokers serve the streams protocol.
RELEASES = {"3.9": False, "4.0": False, "4.1": True, "4.2": True, "4.3": True, "4.4": True}
COLUMNS = ("brokers", "group", "`groups`", "`capture`", "`record`")


class Broker(RecordedLives):
    def start(self, kinds: list[str]) -> None:
        self.start_broker()
        self.create_input(4)
        self.produce(400)
        self.start_process("p1", {kind: self.settings(kind) for kind in kinds if kind != CONNECT})
        self.start_worker("w1", self.ports["w1"])
        until(lambda: self.settled() == dict.fromkeys(kinds, 1), f"groups {kinds} of {self.release}")

    def settings(self, kind: str) -> Mapping[str, object]:
        return {"client.rack": "r1", **({"group.protocol": "streams"} if kind == STREAMS else {})}

    def _properties(self, name: str, values: Mapping[str, object]) -> Path:
        if name == "broker" and self.release == "4.1":
            # In this release the streams protocol is not final and must be enabled.
            values = {
                **values,
                "group.coordinator.rebalance.protocols": "classic,consumer,streams",
                "unstable.api.versions.enable": "true",
                "unstable.feature.versions.enable": "true",
            }
        return super()._properties(name, values)

    def ask(self, command: str, *options: str) -> Any:
        arguments = [command, "--bootstrap-server", self.address, *options]
        return CliRunner().invoke(build_app(arguments), arguments)


def rows(release: str, folder: Path) -> Sequence[tuple[str, ...]]:
    kinds = [CLASSIC, CONNECT, *([STREAMS] if RELEASES[release] else [])]
    broker = Broker(folder, release)
    try:
        broker.start(kinds)
        listed = {each["id"]: each for each in json.loads(broker.ask("groups", "--json").stdout)}
        return [
            (release, listed[kind]["kind"], _listed(listed[kind]), _captured(broker, kind), _recorded(broker, kind))
            for kind in kinds
        ] + [(release, STREAMS, "not served", "", "")] * (not RELEASES[release])
    finally:
        broker.close()


def _listed(told: Mapping[str, Any]) -> str:
    known = [key for key in ("members", "processes", "tasks", "generation") if told[key] is not None]
    return ", ".join([told["state"], *known])


def _captured(broker: Broker, kind: str) -> str:
    file = broker.directory / f"{kind}.jsonl"
    told = broker.ask("capture", "--group", kind, "--out", str(file))
    if told.exit_code:
        return f"no: {told.stderr.strip() or told.exception}"
    document = json.loads(file.read_text())
    return ", ".join(_WHAT[document["kind"]](document))


def _of_streams(document: Mapping[str, Any]) -> list[str]:
    lags = all(client["lags"] is not None for client in document["clients"])
    racks = all(partition["racks"] for task in document["tasks"] for partition in task["partitions"] or ())
    return ["tasks, clients"] + ["lags"] * lags + ["racks of partitions"] * racks + ["sizes"] * ("workload" in document)


def _of_streams_group(document: Mapping[str, Any]) -> list[str]:
    has_config = not any("is unknown" in each for each in document["assumptions"] if "num.standby" in each)
    return ["topology, members, targets"] + ["the group's config"] * has_config


def _of_connect(document: Mapping[str, Any]) -> list[str]:
    return ["workers, jobs"]


_WHAT = {"streams": _of_streams, "streams-group": _of_streams_group, "connect": _of_connect}


def _recorded(broker: Broker, kind: str) -> str:
    told = broker.ask("record", "--group", kind, "--out", str(broker.directory / f"{kind}-past"), "--json")
    if told.exit_code:
        return f"no: {told.stderr.strip() or told.exception}"
    generations = [each for each in json.loads(told.stdout)["generations"] if each["members"]]
    complete = all(member["got"] is not None for each in generations for member in each["members"].values())
    return "who joined, had and got what" if generations and complete else f"{len(generations)} generations"


def table(found: list[tuple[str, ...]]) -> str:
    merged: dict[tuple[str, ...], list[str]] = {}
    for release, *rest in found:
        merged.setdefault(tuple(rest), []).append(release)
    lines = [f"| {' | '.join(COLUMNS)} |", "|" + "---|" * len(COLUMNS)]
    lines += [f"| {' | '.join((', '.join(releases), *rest))} |" for rest, releases in merged.items()]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.capture.live.broker_releases", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table into the documentation")
    parser.add_argument("releases", nargs="*", default=list(RELEASES), help="some releases only")
    options = parser.parse_args()
    found: list[tuple[str, ...]] = []
    for release in options.releases:
        with tempfile.TemporaryDirectory() as folder:
            found += rows(release, Path(folder))
            print(*found, sep="\n", flush=True)
    print(table(found))
    if options.write:
        put_between(PAGE, BEGIN, table(found), END)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
