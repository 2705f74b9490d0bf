"""Values of attrs classes from objects with the class's fields, and back."""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar, cast

import attrs

from assignor_lab.documents.shapes import (
    Check,
    Mismatch,
    any_value,
    boolean,
    described,
    list_of,
    map_of,
    nullable,
    open_record,
    text,
)

__all__ = ["OwnForm", "plain_document", "value_of"]

T = TypeVar("T")


#: A class whose document has a form of its own, and the check that reads it.
OwnForm = tuple[type, Check[Any]]


@cache
def value_of(cls: type[T], hint: str, own: tuple[OwnForm, ...] = ()) -> Check[T]:
    """A check that reads an object into a ``cls``; unknown keys are ignored.

    Fields may be texts, whole and finite numbers, booleans, attrs classes, tuples of any length of these, maps from
    texts to these, and any of them or ``None``. A field with a default may be missing.

    Args:
        own: Classes among the fields with a form of their own.
    """
    hints = typing.get_type_hints(cls)
    required: dict[str, Check[Any]] = {}
    optional: dict[str, Check[Any]] = {}
    for field in attrs.fields(cast("Any", cls)):
        check = _check_of(hints[field.name], hint, own)
        (required if field.default is attrs.NOTHING else optional)[field.name] = check
    fields = open_record(required, optional, hint=hint)

    def read(value: Any) -> T:
        return cls(**fields(value))

    return read


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise Mismatch(f"expected a whole number, found {described(value)}")
    return value


def _finite(value: Any) -> float:
    if type(value) not in (int, float) or not abs(value) <= _LARGEST:
        raise Mismatch(f"expected a finite number, found {described(value)}")
    return float(value)


_LARGEST = sys.float_info.max

_PLAIN: dict[Any, Check[Any]] = {
    str: text,
    int: _whole,
    float: _finite,
    bool: boolean,
    Any: any_value,
}


def _check_of(wanted: Any, hint: str, own: tuple[OwnForm, ...]) -> Check[Any]:
    for cls, check in own:
        if wanted is cls:
            return check
    if wanted in _PLAIN:
        return _PLAIN[wanted]
    if attrs.has(wanted):
        return value_of(wanted, hint, own)
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if origin in (types.UnionType, typing.Union) and type(None) in arguments and len(arguments) == 2:
        return nullable(_check_of(next(each for each in arguments if each is not type(None)), hint, own))
    if origin is tuple and arguments[1:] == (...,):
        return _tuple_of(_check_of(arguments[0], hint, own))
    if origin is dict and arguments[0] is str:
        return map_of(text, _check_of(arguments[1], hint, own))
    raise TypeError(f"no check for fields of type {wanted}")


def _tuple_of(check: Check[T]) -> Callable[[Any], tuple[T, ...]]:
    items = list_of(check)
    return lambda value: tuple(items(value))


def plain_document(value: Any, own: Mapping[type, Callable[[Any], dict[str, Any]]] = types.MappingProxyType({})) -> Any:
    """A value as JSON: objects have the fields of attrs classes in their order, lists the items of tuples.

    Args:
        own: Class to the function that makes its object, with values as they are, in place of that of its fields.
    """
    cls = type(value)
    if cls in own:
        return {key: plain_document(each, own) for key, each in own[cls](value).items()}
    if attrs.has(cls):
        return {name: plain_document(getattr(value, name), own) for name in _names(cls)}
    if isinstance(value, (tuple, list)):
        return [plain_document(each, own) for each in value]
    if isinstance(value, Mapping):
        return {key: plain_document(each, own) for key, each in value.items()}
    return value


@cache
def _names(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in attrs.fields(cls))
