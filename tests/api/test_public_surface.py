from __future__ import annotations

import pytest

from scripts.api_snapshot import SNAPSHOT, complaint, render, unannounced_breaks

OLD = """
SPI_VERSION = '1.2'

class Assignor(abc.ABC):
    def configure(self, configs: Mapping[str, str]) -> None: ...
    @abc.abstractmethod
    def assign(self, application: Application, seed: int = 0) -> Answer: ...

@attrs.frozen
class Answer:
    def __init__(self, tasks: tuple[str, ...], deadline_ms: int | None = ...): ...
    tasks: tuple[str, ...]
    deadline_ms: int | None = None

def answered(kind: Literal['one', 'two'] = 'one') -> None: ...
"""


@pytest.mark.slow
def test_the_surface_is_the_recorded_one() -> None:
    found = complaint(SNAPSHOT.read_text(encoding="utf-8"), render())
    assert found is None, found


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        ("    def configure(self, configs: Mapping[str, str]) -> None: ...\n", "", "configure"),
        ("configs: Mapping", "settings: Mapping", "configs"),
        ("seed: int = 0", "seed: int", "seed"),
        ("seed: int = 0", "seed: int = 1", "seed"),
        ("-> Answer", "-> None", "assign"),
        ("application: Application", "application: Group", "application"),
        ("deadline_ms: int | None", "deadline_ms: int", "deadline_ms"),
        ("(abc.ABC)", "", "Assignor"),
        ("    tasks: tuple[str, ...]\n", "", "tasks"),
        ("tasks: tuple[str, ...], deadline_ms", "tasks: tuple[str, ...], owner: str, deadline_ms", "owner"),
        ("class Answer", "class Reply", "Answer"),
        ("Literal['one', 'two']", "Literal['one']", "kind"),
        (
            "class Assignor(abc.ABC):\n",
            "class Assignor(abc.ABC):\n    @abc.abstractmethod\n    def stop(self) -> None: ...\n",
            "stop",
        ),
    ],
)
def test_a_break_is_named_and_told_how_to_announce(before: str, after: str, names: str) -> None:
    broken = OLD.replace(before, after, 1)
    assert broken != OLD
    found = complaint(OLD, broken)
    assert found is not None
    assert names in found
    assert "SPI_VERSION" in found
    assert "\x1b" not in found


def test_a_new_major_version_may_break() -> None:
    assert unannounced_breaks(OLD, OLD.replace("configs", "settings").replace("1.2", "2.0")) == []


def test_a_new_minor_version_may_not_break() -> None:
    assert unannounced_breaks(OLD, OLD.replace("configs", "settings").replace("1.2", "1.3"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("seed: int = 0", "seed: int = 0, stable: bool = True"),
        ("seed: int = 0", "seed: int | None = 0"),
        ("Literal['one', 'two']", "Literal['one', 'two', 'three']"),
        ("deadline_ms: int | None = ...)", "deadline_ms: int | None = ..., note: str = ...)"),
        ("class Assignor(abc.ABC):\n", "class Assignor(abc.ABC):\n    def stop(self) -> None: ...\n"),
        ("@attrs.frozen", "def helper() -> None: ...\n\n@attrs.frozen"),
    ],
)
def test_what_only_adds_asks_for_a_new_snapshot(before: str, after: str) -> None:
    grown = OLD.replace(before, after, 1)
    assert unannounced_breaks(OLD, grown) == []
    assert "make api-snapshot" in (complaint(OLD, grown) or "")
