"""Refusal of options that have no effect on a group of this kind."""

from __future__ import annotations

from assignor_lab.documents.option_values import OptionValueError
from assignor_lab.opened.reading import ReadGroup
from assignor_lab.planning.connect_state import is_connect_state
from assignor_lab.planning.consumer_state import is_consumer_state
from assignor_lab.planning.making import Options

__all__ = ["check_used"]


def check_used(read: ReadGroup, options: Options) -> None:
    """Refuses options of time, and a client library, that a plan of this group does not use.

    Raises:
        OptionValueError: if one of them is given.
    """
    is_of_workers = is_connect_state(read.scenario)
    if is_consumer_state(read.scenario):
        return
    subject = "Connect workers" if is_of_workers else "Streams groups"
    if is_of_workers and options.poll_ms is not None:
        raise OptionValueError(f"--poll-seconds is for Streams and consumer groups: it has no effect on {subject}")
    if options.revoke_ms is not None:
        raise OptionValueError(f"--revoke-seconds is for consumer groups: it has no effect on {subject}")
    if read.terms.client is not None:
        raise OptionValueError(f"--client is for consumer groups: it has no effect on {subject}")
