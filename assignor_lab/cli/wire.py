"""``assignor wire``: messages of the group protocol, from bytes to JSON and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from assignor_lab.cli.options import JsonWritten, LinesOut, check_json, print_written

if TYPE_CHECKING:
    from assignor_lab.kafka.wire import WireKind

__all__ = ["register"]


Kind = Annotated[
    str,
    typer.Argument(
        metavar="KIND",
        help="Kind of the messages: subscription, assignment, connect-subscription, connect-assignment, "
        "consumer-subscription, consumer-assignment, consumer-sticky-user-data, consumer-cooperative-user-data.",
    ),
]
File = Annotated[
    str, typer.Argument(metavar="FILE", help="File of JSON lines, plain or gzip; - is the standard input.")
]


def register(app: typer.Typer) -> None:
    """Adds the commands to ``app``."""
    wire = typer.Typer(
        name="wire", help="Read and write the bytes that members and leader of a group exchange.", no_args_is_help=True
    )
    wire.command("decode")(_decode)
    wire.command("encode")(_encode)
    app.add_typer(wire)


def _decode(kind: Kind, file: File, out: LinesOut = "-", json: JsonWritten = False) -> None:
    """Fill in 'decoded' from 'hex' in every line.

    Content that Kafka refuses gets 'error'; the command still ends with 0.
    """
    from assignor_lab.kafka.wire import decode_lines
    from assignor_lab.scenarios import write_lines

    check_json(out, as_json=json)
    print_written(out, write_lines(out, decode_lines(_kind(kind), file)), as_json=json)


def _encode(kind: Kind, file: File, out: LinesOut = "-", json: JsonWritten = False) -> None:
    """Fill in 'hex' from 'version' and 'decoded' in every line.

    Content that Kafka refuses gets 'error'; the command still ends with 0.
    """
    from assignor_lab.kafka.wire import encode_lines
    from assignor_lab.scenarios import write_lines

    check_json(out, as_json=json)
    print_written(out, write_lines(out, encode_lines(_kind(kind), file)), as_json=json)


def _kind(name: str) -> WireKind:
    from assignor_lab.kafka.wire import KINDS

    if name not in KINDS:
        raise typer.BadParameter(f"{name!r} is no kind of message: {', '.join(KINDS)}", param_hint="KIND")
    return KINDS[name]
