"""Changes between two versions of Kafka that concern the lab: ``make release-diff VERSION=4.4.0``.

Prints the changed classes of each area and the ranges of ``assignment_api.releases`` that begin or end there, changed
defaults of settings, the differences of answers to random states, and their meaning for recorded groups. Exit code 1
if classes of the assignors changed and no range of the table covers that, or if answers differ from the lab's.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs

from assignment_api.plugins import config_sources, discover
from assignment_api.releases import BEHAVIOURS, KNOWN_RELEASES, BehaviourRange, KafkaRelease, read_release
from assignor_lab.groups.runner.result_lines import AnswerOptions, answerer
from assignor_lab.scenarios import read_scenarios
from parity.release_diff.bytecode import ClassShape, changed_methods, is_recompiled, shapes_of

_ROOT = Path(__file__).resolve().parent.parent.parent
_RECORDED = ("golden/recorded/*.scenarios.jsonl.gz", "golden/streams/medium.scenarios.jsonl.gz")
_STREAMS = "org.apache.kafka.streams."
_ASSIGNMENT = f"{_STREAMS}processor.internals.assignment."
_PUBLIC = f"{_STREAMS}processor.assignment."
_INTERNAL = f"{_STREAMS}processor.internals."
_GROUP = "org.apache.kafka.coordinator.group."
_HERDER = "org.apache.kafka.connect.runtime.distributed."
_CONSUMER = "org.apache.kafka.clients.consumer."
_MOST_METHODS = 4


@attrs.frozen
class ComparedArea:
    """Classes of one area.

    Args:
        keys: Ranges of the table that can explain a change.
        deciding: Simple names of the classes of answers: a change needs a range, or equal answers.
    """

    name: str
    classes: tuple[str, ...]
    keys: tuple[str, ...]
    deciding: tuple[str, ...] = ()


AREAS = (
    ComparedArea(
        "assignors of Streams",
        (
            f"{_PUBLIC}assignors.StickyTaskAssignor", f"{_PUBLIC}TaskAssignmentUtils",
            *(f"{_ASSIGNMENT}{name}" for name in (
                "HighAvailabilityTaskAssignor", "LegacyStickyTaskAssignor", "StickyTaskAssignor",
                "FallbackPriorTaskAssignor", "TaskMovement", "StandbyTaskAssignorFactory",
                "DefaultStandbyTaskAssignor", "ClientTagAwareStandbyTaskAssignor", "RackAwareTaskAssignor",
                "RackAwareGraphConstructorFactory", "MinTrafficGraphConstructor", "BalanceSubtopologyGraphConstructor",
                "ConstrainedPrioritySet", "ClientState", "Graph",
            )),
        ),
        ("high_availability", "rack_aware", "legacy_sticky", "fallback_prior", "sticky", "sticky_4_4"),
        ("StickyTaskAssignor", "HighAvailabilityTaskAssignor", "LegacyStickyTaskAssignor", "FallbackPriorTaskAssignor"),
    ),
    ComparedArea(
        "StreamsPartitionAssignor and its helpers",
        (
            f"{_INTERNAL}StreamsPartitionAssignor", f"{_INTERNAL}InternalTopicManager",
            *(f"{_ASSIGNMENT}{name}" for name in (
                "AssignorConfiguration", "AssignmentInfo", "SubscriptionInfo", "CopartitionedTopicsEnforcer",
            )),
        ),
        ("subscription_info_11", "app_server_prefix"),
    ),
    ComparedArea(
        "restoring and tasks",
        tuple(f"{_INTERNAL}{name}" for name in (
            "TaskManager", "StoreChangelogReader", "ProcessorStateManager", "StateDirectory", "DefaultStateUpdater",
            "StreamTask",
        )),
        (*(each.key for each in BEHAVIOURS if each.area == "restore"), "in_memory_stores_reported"),
    ),
    ComparedArea(
        "the consumer's coordinator",
        (f"{_CONSUMER}internals.ConsumerCoordinator", f"{_CONSUMER}internals.AbstractCoordinator"),
        ("broker_bounce_rebalances", "metadata_racks_by_node"),
    ),
    ComparedArea(
        "Connect's herder and assignors",
        tuple(f"{_HERDER}{name}" for name in (
            "IncrementalCooperativeAssignor", "EagerAssignor", "WorkerCoordinator", "DistributedHerder",
            "ConnectProtocol", "IncrementalCooperativeConnectProtocol",
        )),
        ("connect_eager", "connect_incremental", "connect_wire_2"),
        ("IncrementalCooperativeAssignor", "EagerAssignor"),
    ),
    ComparedArea(
        "the brokers' group coordinator",
        (
            f"{_GROUP}GroupMetadataManager", f"{_GROUP}streams.StreamsGroup",
            f"{_GROUP}streams.CurrentAssignmentBuilder", f"{_GROUP}streams.assignor.StickyTaskAssignor",
        ),
        (*(each.key for each in BEHAVIOURS if each.area == "coordinator"), "group_sticky", "group_sticky_4_4"),
        ("StickyTaskAssignor", "CurrentAssignmentBuilder"),
    ),
)  # fmt: skip
CONFIGS = (
    "org.apache.kafka.streams.StreamsConfig",
    "org.apache.kafka.clients.consumer.ConsumerConfig",
    "org.apache.kafka.clients.producer.ProducerConfig",
    "org.apache.kafka.clients.admin.AdminClientConfig",
    f"{_HERDER}DistributedConfig",
    f"{_GROUP}GroupConfig",
    f"{_GROUP}GroupCoordinatorConfig",
)


def main() -> int:
    """Returns the exit code."""
    options = _options()
    new = read_release(options.version)
    old = read_release(options.before) if options.before else _before(new)
    if new is None or old is None:
        print("release-diff: give versions such as 4.4.0", file=sys.stderr)
        return 2
    subprocess.run([_ROOT / "scripts" / "fetch-release", str(old), str(new)], check=True)
    print(f"Kafka {old} and {new}")
    open_points = list(_bytecode(old, new))
    _defaults(old, new)
    if _meaning(old, new):
        print("  (plan SOURCE upgrade --to plays it for a group of your own)")
    is_equal = _parity(new, options.count) if options.count else None
    for point in open_points:
        print(f"{'open' if is_equal is None else 'equal answers' if is_equal else 'differs'}: {point}")
    return 1 if is_equal is False or (open_points and is_equal is None) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m parity.release_diff", description=__doc__.partition("\n")[0])
    parser.add_argument("version", help="the newer version, such as 4.4.0")
    parser.add_argument("--from", dest="before", help="the older one (default: the known release before it)")
    parser.add_argument("--count", type=int, default=500, help="random states (default %(default)s; 0: none)")
    return parser.parse_args()


def _before(release: KafkaRelease | None) -> KafkaRelease | None:
    older = [each for each in KNOWN_RELEASES if release is not None and each < release]
    return older[-1] if older else None


def _jars(release: KafkaRelease) -> list[Path]:
    return sorted((_ROOT / "build" / "releases" / str(release)).glob(f"*-{release}.jar"))


def _bytecode(old: KafkaRelease, new: KafkaRelease) -> Iterator[str]:
    names = [name for area in AREAS for name in area.classes]
    before, after = shapes_of(_jars(old), names), shapes_of(_jars(new), names)
    print("\nclasses")
    for area in AREAS:
        changed = dict(_changed(area, before, after))
        compared = sum(name.partition("$")[0] in area.classes for name in {*before, *after})
        print(f"  {area.name}: {len(changed)} of {compared} differ")
        for name, methods in changed.items():
            more = f" and {len(methods) - _MOST_METHODS} more" if len(methods) > _MOST_METHODS else ""
            print(f"    {name.rpartition('.')[2]}: {', '.join(map(_short, methods[:_MOST_METHODS]))}{more}")
        ranges = [each.key for each in _turning(old, new) if each.key in area.keys]
        if ranges:
            print(f"    covered by the table of releases: {', '.join(ranges)}")
        decide = sorted({_simple(name) for name in changed} & set(area.deciding))
        if decide and not ranges and not _answered(area, old, new):
            print(f"    not judged: the table names no answers of {', '.join(decide)} in these releases")
        elif decide and not ranges:
            yield f"{area.name}: {', '.join(decide)} changed, and the table has no range that begins or ends there"


def _answered(area: ComparedArea, old: KafkaRelease, new: KafkaRelease) -> bool:
    """True if the lab claims the answers of an assignor of this area in one of the releases."""
    claims = [each for each in BEHAVIOURS if each.area == "assignors" and each.key in area.keys]
    return any(each.covers(old) or each.covers(new) for each in claims)


def _simple(name: str) -> str:
    return name.rpartition(".")[2].partition("$")[0]


def _short(signature: str) -> str:
    """The name of a method or field alone."""
    return signature if signature.startswith("(") else signature.partition("(")[0].split(" ")[-1]


def _changed(
    area: ComparedArea, before: dict[str, ClassShape], after: dict[str, ClassShape]
) -> Iterator[tuple[str, list[str]]]:
    names = [name for name in sorted({**before, **after}) if name.partition("$")[0] in area.classes]
    recompiled = {
        outer
        for outer in {name.partition("$")[0] for name in names}
        if is_recompiled(_nest(outer, before), _nest(outer, after))
    }
    for name in names:
        if name.partition("$")[0] not in recompiled:
            methods = changed_methods(before.get(name), after.get(name))
            if methods:
                yield name, methods


def _nest(outer: str, shapes: dict[str, ClassShape]) -> list[ClassShape]:
    return [shape for name, shape in shapes.items() if name.partition("$")[0] == outer]


def _turning(old: KafkaRelease, new: KafkaRelease) -> list[BehaviourRange]:
    """Ranges that hold for one of the two releases only."""
    return [each for each in BEHAVIOURS if each.covers(old) != each.covers(new)]


def _defaults(old: KafkaRelease, new: KafkaRelease) -> None:
    before, after = _settings(old), _settings(new)
    print("\nsettings")
    for key in sorted({**before, **after}):
        if before.get(key) != after.get(key):
            name, _, setting = key.partition(" ")
            was, now = before.get(key, "(none)"), after.get(key, "(gone)")
            print(f"  {name.rpartition('.')[2]} {setting}: {was} -> {now}")
    if before == after:
        print("  no key or default changed")


def _settings(release: KafkaRelease) -> dict[str, str]:
    jars = _ROOT / "build" / "releases" / str(release) / "*"
    program = _ROOT / "parity" / "java" / "defaults" / "ConfigDefaults.java"
    done = subprocess.run(
        ["java", "-cp", str(jars), str(program), *CONFIGS], capture_output=True, text=True, check=True
    )
    found = {}
    for line in done.stdout.splitlines():
        name, key, value = (*line.split("\t"), "", "")[:3]
        found[f"{name} {key}"] = value
    return found


def _meaning(old: KafkaRelease, new: KafkaRelease) -> bool:
    """Prints the share of stored states with another answer; true if there are some."""
    print("\nstored states")
    assignors = [each for each in dict.fromkeys(each.of for each in _turning(old, new)) if each == "sticky"]
    if not assignors:
        print("  every assignor of Streams answers them as before")
        return False
    registry, options = discover(), AnswerOptions(config_sources(environ={}))
    newest = "sticky_4_4" if new not in KNOWN_RELEASES else f"sticky@{new.line}"
    pair = [answerer(name, registry, options) for name in (f"sticky@{old.line}", newest)]
    for pattern in _RECORDED:
        states = [
            state for file in sorted((_ROOT / "tests" / "data").glob(pattern)) for state in read_scenarios(str(file))
        ]
        differ = sum(len({str(answer(state)["assignment"]) for answer in pair}) > 1 for state in states)
        print(f"  {pattern.partition('.')[0]}: sticky places tasks elsewhere in {differ} of {len(states)} states")
    return True


def _parity(release: KafkaRelease, count: int) -> bool | None:
    """True if the lab answers random states as the release does; ``None``: it has no driver yet."""
    if release not in KNOWN_RELEASES:
        print(
            f"\nparity: add {release.line} to KNOWN_RELEASES and parity/java, then make parity RELEASE={release.line}"
        )
        return None
    print("\nparity", flush=True)
    subprocess.run([_ROOT / "scripts" / "build-official", release.line], check=True)
    words = ["--count", str(count), "--release", release.line, "--out", str(_ROOT / "build" / "release-diff")]
    return subprocess.run([sys.executable, "-m", "parity", *words], cwd=_ROOT, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
