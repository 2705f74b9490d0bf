"""Options of a command as values: attrs classes with one field for each option."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, get_type_hints

__all__ = ["with_options"]


def with_options(run: Callable[..., None]) -> Callable[..., None]:
    """A command for typer with the options of all values that ``run`` takes.

    Args:
        run: The body of the command. Each parameter is an attrs class with fields of the form
            ``name: Annotated[TYPE, typer.Option(...)] = DEFAULT``; no name occurs in two classes.
    """
    import attrs

    values = get_type_hints(run)
    values.pop("return")
    options = {
        name: [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if field.default is attrs.NOTHING else field.default,
                annotation=get_type_hints(value, include_extras=True)[field.name],
            )
            for field in attrs.fields(value)
        ]
        for name, value in values.items()
    }

    @wraps(run)
    def command(**given: Any) -> None:
        run(**{
            name: values[name](**{each.name: given[each.name] for each in parameters})
            for name, parameters in options.items()
        })  # fmt: skip

    flat = [parameter for parameters in options.values() for parameter in parameters]
    command.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in flat}
    return command
