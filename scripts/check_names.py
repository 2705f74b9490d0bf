"""Checks names of classes, and counts untyped passages of the lab.

* A public class name occurs once in the repository, outside tests, examples and templates: two classes of one name make
  a reader open both files.
* A thing has one word (the glossary in ``docs/reference/words.md``): old words are refused in names of classes.
* Documents with string keys belong to edges, the rooms that read or write bytes. Outside of them each subscript by a
  string, each ``dict[str, Any]`` and each ``Any`` counts. The limits only fall: lower them after each improvement.
* A room of the lab has at most its number of lines.

``python scripts/check_names.py`` prints each fault and exits with 1; ``--counts`` prints the counts by room.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
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
    "TaskAssignor": "Kafka's name in both contracts",
    "TaskId": "Kafka's name in both contracts",
    "Budget": "to be renamed",
    "History": "to be renamed",
}
_CLASS = re.compile(r"^class ([A-Z]\w*)", re.MULTILINE)

#: Old word in names of classes to the word of the glossary.
OLD_WORDS = {
    r"Competitor": "Contender",
    r"Entrant": "Contender",
    r"ChosenAssignor": "Contender, or AnsweringAssignor",
    r"Variant$": "Contender",
    r"Subjects?$": "Contender, or State",
}
#: Classes of the contract with fixed names, and of rooms that still change.
OLD_NAMES = {"InProcessSubject", "PlanVariant", "Subject"}

#: Rooms and files of the lab that read or write bytes.
EDGES = (
    "capture/edges",
    "capture/live",
    "capture/logs",
    "capture/recorded",
    "connect/remote",
    "documents",
    "edges",
    "http",
    "kafka/wire",
    "runtime/java",
    "scenarios/formats",
    "scoring/output",
    "simulation/connect/formats",
    "simulation/streams/formats",
    "web",
)
#: Most untyped passages between the edges.
KEYS, DOCUMENTS, ANY = "string keys", "dict[str, Any] or Mapping[str, Any]", "Any"
LIMITS = {KEYS: 397, DOCUMENTS: 469, ANY: 966}
#: Most lines of each room of the lab. Give a new room an entry.
LINES = {
    "advising": 3_120,
    "capture": 24_545,
    "cli": 9_860,
    "clients": 1_360,
    "compare": 1_415,
    "conformance": 400,
    "connect": 2_200,
    "documents": 1_620,
    "explain": 1_100,
    "groups": 14_100,
    "http": 600,
    "kafka": 7_000,
    "model": 3_170,
    "new": 400,
    "notebook": 1_490,
    "opened": 1_250,
    "planning": 11_150,
    "report": 3_900,
    "runtime": 5_850,
    "scenarios": 7_770,
    "scoring": 11_620,
    "serving": 1_300,
    "simulation": 14_575,
    "verification": 1_400,
    "watching": 1_500,
    "web": 2_700,
}
_OBJECTS = {"dict", "Mapping", "MutableMapping"}


def main() -> int:
    places: dict[str, list[Path]] = defaultdict(list)
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            if "templates" not in file.parts:
                for name in _CLASS.findall(file.read_text()):
                    places[name].append(file.relative_to(ROOT))
    by_room, lines = untyped()
    if "--counts" in sys.argv:
        print_counts(by_room, lines)
        return 0
    faults = [*repeated(places), *old_words(places), *beyond(by_room), *too_long(lines)]
    print("\n".join(faults) or "Names occur once, follow the glossary, and documents stay within their limits.")
    return 1 if faults else 0


def repeated(places: dict[str, list[Path]]) -> list[str]:
    several = {name: files for name, files in places.items() if len(files) > 1}
    faults = [
        f"class {name} is in {', '.join(map(str, files))}: give each class the noun of its room"
        for name, files in sorted(several.items())
        if name not in EXCEPTIONS
    ]
    return faults + [
        f"class {name} occurs once now: remove it from EXCEPTIONS of scripts/check_names.py"
        for name in sorted(EXCEPTIONS.keys() - several.keys())
    ]


def old_words(places: dict[str, list[Path]]) -> list[str]:
    faults = [
        f"class {name} in {files[0]}: the glossary in docs/reference/words.md has another word: {word}"
        for name, files in sorted(places.items())
        for old, word in OLD_WORDS.items()
        if re.search(old, name) and name not in OLD_NAMES
    ]
    return faults + [f"class {name} is gone: remove it from OLD_NAMES" for name in sorted(OLD_NAMES - places.keys())]


def beyond(by_room: dict[str, Counter[str]]) -> list[str]:
    found = sum(by_room.values(), Counter[str]())
    return [
        f"{found[each]:,} {each} between the edges of the lab, and at most {most:,} are allowed: exchange typed values"
        for each, most in LIMITS.items()
        if found[each] > most
    ]


def too_long(lines: Counter[str]) -> list[str]:
    return [
        f"assignor_lab/{room} has {number:,} lines, and at most {LINES[room]:,} are allowed: make it smaller"
        for room, number in sorted(lines.items())
        if number > LINES.get(room, number)
    ]


def untyped() -> tuple[dict[str, Counter[str]], Counter[str]]:
    """Untyped passages between the edges of the lab, and all lines, by room."""
    lab = ROOT / "assignor_lab"
    by_room: dict[str, Counter[str]] = defaultdict(Counter)
    lines: Counter[str] = Counter()
    for file in sorted(lab.rglob("*.py")):
        place, text = file.relative_to(lab).as_posix(), file.read_text()
        room = place.partition("/")[0]
        lines[room] += text.count("\n")
        if not any(place == edge or place.startswith(f"{edge}/") for edge in EDGES):
            by_room[room].update(filter(None, map(_kind, ast.walk(ast.parse(text)))))
    return by_room, lines


def _kind(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return ANY if node.id == "Any" else None
    if not isinstance(node, ast.Subscript):
        return None
    if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        return KEYS
    if isinstance(node.value, ast.Name) and node.value.id in _OBJECTS:
        return DOCUMENTS if any(getattr(each, "id", "") == "Any" for each in ast.walk(node.slice)) else None
    return None


def print_counts(by_room: dict[str, Counter[str]], lines: Counter[str]) -> None:
    print(f"{'room':<16}{'lines':>8}{'keys':>7}{'objects':>9}{'Any':>7}")
    total = sum(by_room.values(), Counter[str]())
    for room, number in (*lines.most_common(), ("together", lines.total())):
        found = total if room == "together" else by_room.get(room, Counter())
        print(f"{room:<16}{number:>8,}{found[KEYS]:>7,}{found[DOCUMENTS]:>9,}{found[ANY]:>7,}")


if __name__ == "__main__":
    sys.exit(main())
