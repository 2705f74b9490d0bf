"""The calls of a probe, in the assignor's own process."""

from __future__ import annotations

import tracemalloc
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from assignment_api import ApplicationMetadata
from assignment_api.plugins import FoundTaskAssignor
from assignor_lab.groups.streams.assignor_calls import ASKING, StreamsOutcome, invoke
from assignor_lab.groups.streams.transfer import packed_application
from assignor_lab.runtime.invocation import CallFailure
from assignor_lab.runtime.isolation.handlers import read_only, the_plugin
from assignor_lab.runtime.isolation.worker import Memory

__all__ = ["answer_digest", "probe", "probe_document"]


def probe(memory: Memory, packed: tuple[bytes, ...], configs: Mapping[str, object]) -> Mapping[str, Any]:
    """Serves a request of :class:`~assignor_lab.groups.streams.probing.Prober` in the assignor's own process."""
    _, found = the_plugin(memory)
    # A separate state for each probe: an assignor that changes its input must not change that of the next one.
    return probe_document(found, ASKING.receiver()(*packed), read_only(configs))


def probe_document(
    assignor: FoundTaskAssignor, application: ApplicationMetadata, configs: Mapping[str, object]
) -> dict[str, Any]:
    """The source of the findings of :class:`~assignor_lab.groups.streams.probing.Prober`."""
    before = packed_application(application)

    def asked(shown: ApplicationMetadata) -> str:
        return answer_digest(invoke(assignor, shown, configs))

    first = asked(application)
    mutated = packed_application(application) != before
    again = asked(application)
    reverse = asked(_another(application, skipped=0))
    asked(_another(application, skipped=1))
    later = asked(application)
    return {
        "digests": [first, again, reverse, later],
        "mutated": mutated,
        "peak": _peak(assignor, application, configs),
    }


def _another(application: ApplicationMetadata, skipped: int) -> ApplicationMetadata:
    shown = application.for_next_assignor()
    clients = list(shown.streams_client_states().values())
    left = clients[: len(clients) - skipped] or clients
    leader = application.leader_process_id()
    return ApplicationMetadata(
        application.assignment_configs(),
        reversed([*application.task_infos().values()]),
        reversed(left),
        application.current_time_ms(),
        leader if any(client.process_id == leader for client in left) else None,
        application.workload(),
    )


def _peak(assignor: FoundTaskAssignor, application: ApplicationMetadata, configs: Mapping[str, object]) -> int | None:
    shown = application.for_next_assignor()
    try:
        instance = assignor.create()
        instance.configure(configs)
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        instance.assign(shown)
        return tracemalloc.get_traced_memory()[1] - before
    except MemoryError:
        raise
    except BaseException:  # noqa: BLE001 - a plugin may raise anything; its answer reports that
        return None
    finally:
        tracemalloc.stop()


def answer_digest(outcome: StreamsOutcome) -> str:
    """A digest of the holders of tasks and of the follow-up, or of the failure."""
    digest = blake2b(digest_size=16)
    result = outcome.result
    if isinstance(result, CallFailure):
        digest.update(repr((result.type, result.message)).encode(errors="replace"))
        return digest.hexdigest()
    clients = {str(client.process_id): client for client in result.assignments}
    for process, client in sorted(clients.items()):
        held = (sorted(map(str, client.active_tasks())), sorted(map(str, client.standby_tasks())))
        digest.update(repr((process, *held, client.followup_rebalance_deadline_ms)).encode(errors="replace"))
    return digest.hexdigest()
