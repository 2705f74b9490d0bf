"""Options of the commands that call a running Kafka, and their requests."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Anonymize", "BootstrapServer", "CommandConfig", "Timeout"]

BootstrapServer = Annotated[
    str | None,
    typer.Option("--bootstrap-server", metavar="HOST:PORT", help="Brokers to begin with, several with commas."),
]

CommandConfig = Annotated[
    Path | None,
    typer.Option(
        "--command-config",
        metavar="FILE",
        help="Settings of a Java client (.properties) for TLS and SASL, as Kafka's own tools take them.",
    ),
]

Timeout = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", min=1, max=600, help="Longest time for one request.")
]

Anonymize = Annotated[
    Path | None,
    typer.Option(
        "--anonymize",
        metavar="KEYFILE",
        help="Write pseudonyms for names of topics, groups, clients, hosts, racks, tags and connectors, by this key.",
    ),
]
