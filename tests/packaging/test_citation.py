from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[2]
REQUIRED = {"cff-version", "message", "title", "authors"}


def test_the_citation_is_of_this_release() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    # Only plain scalars and lists: a line begins with a key, or continues the previous one.
    fields = dict(re.findall(r"^([a-z-]+):[ ]?(.*)$", text, re.MULTILINE))
    assert all(re.match(r"[a-z-]+:( .+)?$|  \S", line) for line in text.splitlines())
    assert fields.keys() >= REQUIRED
    assert fields["cff-version"] == "1.2.0"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (fields["version"], fields["license"]) == (project["version"], project["license"])
    released = date.fromisoformat(fields["date-released"].strip('"'))
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{project['version']}] - {released}" in changelog
