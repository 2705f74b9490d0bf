"""Passes fresh random scenarios to the released classes of Kafka and to the lab, and compares the rows.

Exit code 0 if all rows are equal, 1 if some differ, 2 if no comparison was possible. Each difference is three files:
the scenario, which `assignor assign` can read unless it is a ``streams-reconciliation``, and both rows.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from pathlib import Path

from assignment_api.java import DEFAULT_JDK, JdkGeneration
from assignment_api.releases import KafkaRelease, UnknownReleaseError, release_named
from parity.cases import KINDS, kinds_of
from parity.comparison import ParityRun
from parity.official import DRIVERS, VERSIONS, OfficialKafka, OfficialKafkaError

RULES = {
    JdkGeneration.JDK_17: "copied hash tables are sized as up to JDK 18",
    JdkGeneration.JDK_19: "copied hash tables are sized as from JDK 19 on",
}


def main() -> int:
    """Returns the exit code."""
    options = _options()
    seed = secrets.randbelow(10**9) if options.seed is None else options.seed
    try:
        release = None if options.release is None else release_named(options.release)
        only = None if release is None else f"kafka-{release.line}"
        with OfficialKafka(only=only) as official:
            versions = DRIVERS[only] if only else " and ".join(VERSIONS.values())
            print(f"Kafka {versions} on Java {official.version}: {RULES[official.jdk]}")
            if official.jdk is not DEFAULT_JDK:
                print(
                    f"ours: {RULES[DEFAULT_JDK]}; sticky answers may differ where the number of tasks is 12, 24, 48, "
                    "...: a JDK 17 compares them all"
                )
            return _compare(official, seed, options, release)
    except (OfficialKafkaError, UnknownReleaseError) as error:
        print(f"parity: {error}", file=sys.stderr)
        return 2


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m parity", description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=20_000, help="scenarios (default %(default)s)")
    parser.add_argument("--seed", type=int, help="draws the same scenarios again (default: a new one each time)")
    parser.add_argument("--release", help="one release alone, 3.8 to 4.4 (default: each assignor its own)")
    parser.add_argument("--kind", choices=KINDS, help="scenarios of one kind alone")
    parser.add_argument("--first", type=int, default=0, help="number of the first case of the seed")
    parser.add_argument(
        "--out", type=Path, default=Path("build/parity"), help="folder for differences (default build/parity)"
    )
    return parser.parse_args()


def _compare(official: OfficialKafka, seed: int, options: argparse.Namespace, release: KafkaRelease | None) -> int:
    print(f"seed {seed}, {options.count:,} scenarios", flush=True)
    begin = time.monotonic()
    comparison = ParityRun(official, options.out, release)
    reported = begin
    kinds = [options.kind] if options.kind else KINDS if release is None else kinds_of(release)
    for done in comparison.run(seed, options.first, options.count, kinds):
        if time.monotonic() - reported > 30:
            reported = time.monotonic()
            print(f"  {done:,} scenarios, {comparison.differing} rows differ", flush=True)
    for line in _table(comparison):
        print(line)
    print(
        f"{comparison.scenarios:,} scenarios, {sum(comparison.rows.values()):,} rows, {comparison.differing} differ; "
        f"{time.monotonic() - begin:.0f} s (Kafka's classes {comparison.official_seconds:.0f} s, "
        f"ours {comparison.own_seconds:.0f} s)"
    )
    if comparison.differing:
        print(f"the scenarios that differ are in {options.out}")
    return 1 if comparison.differing else 0


def _table(comparison: ParityRun) -> list[str]:
    columns = (comparison.rows, comparison.refused, comparison.endless, comparison.different)
    lines = [f"{'asked':<24}{'rows':>9}{'errors':>9}{'endless':>9}{'differ':>9}"]
    lines += [f"{name:<24}" + "".join(f"{column[name]:>9,}" for column in columns) for name in sorted(comparison.rows)]
    return lines


if __name__ == "__main__":
    sys.exit(main())
