"""Checks that a public class name occurs once in the repository, outside tests, examples and templates.

Two classes of one name make a reader open both files. ``python scripts/check_names.py`` prints each name that occurs
more than once and exits with 1. The list of exceptions only shrinks: an exception without a second class fails, too.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROOMS = (
    "assignment_api",
    "assignor_lab",
    "benchmarks",
    "builtin_assignors",
    "calibration",
    "connect_workers",
    "parity",
    "pyspark_assignor",
)
#: Names with a reason to occur twice.
EXCEPTIONS = {
    "AssignmentConfigs": "Kafka's name in both contracts: assignment_api and assignment_api.group",
    "GroupAssignorError": "the contract's error, and Kafka 4.3's private one, which results show by its name",
    "GroupStickyTaskAssignor": "one class of Kafka in two releases",
    "TaskAssignor": "Kafka's name in both contracts",
    "TaskId": "Kafka's name in both contracts",
    "Budget": "to be renamed",
    "Contender": "to be renamed",
    "History": "to be renamed",
    "Subject": "to be renamed",
}
_CLASS = re.compile(r"^class ([A-Z]\w*)", re.MULTILINE)


def main() -> int:
    places: dict[str, list[Path]] = defaultdict(list)
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            if "templates" not in file.parts:
                for name in _CLASS.findall(file.read_text()):
                    places[name].append(file.relative_to(ROOT))
    several = {name: files for name, files in places.items() if len(files) > 1}
    faults = [
        f"class {name} is in {', '.join(map(str, files))}: give each class the noun of its room"
        for name, files in sorted(several.items())
        if name not in EXCEPTIONS
    ]
    faults += [
        f"class {name} occurs once now: remove it from EXCEPTIONS of scripts/check_names.py"
        for name in sorted(EXCEPTIONS.keys() - several.keys())
    ]
    print("\n".join(faults) or "Every public class name occurs once.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
