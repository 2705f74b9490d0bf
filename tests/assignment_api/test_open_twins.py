from __future__ import annotations

import attrs
import pytest

from assignment_api.writable_classes import writable_class


def _doubled(number: int) -> int:
    return 2 * number


@attrs.frozen
class Point:
    x: int
    y: int = attrs.field(converter=_doubled, default=0)


def made(x: int, y: int) -> Point:
    point = object.__new__(writable_class(Point))
    point.x, point.y = x, y
    point.__class__ = Point
    return point  # type: ignore[no-any-return]


def test_what_is_made_is_a_value_of_the_class() -> None:
    assert type(made(1, 2)) is Point
    assert made(1, 4) == Point(1, 2)
    assert hash(made(1, 4)) == hash(Point(1, 2))


def test_what_is_made_is_frozen() -> None:
    point = made(1, 2)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        point.x = 3  # type: ignore[misc]
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        del point.x


def test_nothing_is_converted() -> None:
    assert made(1, 2).y == 2
