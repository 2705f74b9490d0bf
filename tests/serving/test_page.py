"""The page of the shim names every setting with its default, every cause, and every value of JMX."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "java" / "shim" / "assignorlab" / "shim"
PAGE = (ROOT / "docs" / "how-to" / "python-in-java.md").read_text()


def source(name: str) -> str:
    return (SOURCES / f"{name}.java").read_text()


def test_settings_are_named_with_their_defaults() -> None:
    settings = source("Settings")
    (listed,) = re.findall(r"KEYS = List\.of\((.*?)\);", settings, re.DOTALL)
    defaults = {
        key: value.replace("_", "")
        for key, value in re.findall(r'(?:number|words)\("([a-z.]+)", "?([a-z0-9_]+)', settings)
    }
    told = dict(re.findall(r"^\| `assignor\.lab\.([a-z.]+)` \| (?:`([a-z0-9]+)`)? ?\|", PAGE, re.MULTILINE))
    assert list(told) == re.findall(r'"([a-z.]+)"', listed)
    assert {key: value for key, value in told.items() if value} == defaults


def test_causes_are_named() -> None:
    causes = re.findall(r"^    ([A-Z_]+),?$", source("Cause"), re.MULTILINE)
    assert len(causes) > 10
    assert sorted(re.findall(r"^\| `([A-Z_]+)` \|", PAGE, re.MULTILINE)) == sorted(causes)


def test_attributes_of_jmx_are_named() -> None:
    attributes = re.findall(r" get([A-Za-z]+)\(\);", source("DecisionsMXBean"))
    assert len(attributes) > 5
    (told,) = re.findall(r"`assignorlab:type=Decisions,.*?It is there", PAGE, re.DOTALL)
    assert set(attributes) <= set(re.findall(r"`([A-Za-z]+)`", told))
