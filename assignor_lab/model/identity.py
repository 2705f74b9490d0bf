"""Identity of instances: the same one is found again after a restart, under one name in every view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

__all__ = ["GroupInstance", "InstanceIdentities", "InstanceTraits"]


@attrs.frozen
class InstanceTraits:
    """Traits of an instance at one time, as a source shows them.

    Args:
        instance_id: ``group.instance.id`` without the number of the thread; ``None``: dynamic or unknown.
        client_id: ``client.id`` without the thread; ``None``: unknown.
        host: Host or pod of its members; ``None``: unknown.
    """

    process_id: str | None = None
    instance_id: str | None = None
    client_id: str | None = None
    host: str | None = None


@attrs.frozen
class GroupInstance:
    """An instance over its whole past: its name, and its process ids by time."""

    name: str
    processes: tuple[str, ...]
    instance_id: str | None = None
    client_id: str | None = None
    host: str | None = None


@attrs.define
class InstanceIdentities:
    """Finds instances again, by the first trait of two that are alike.

    The order is ``group.instance.id``, process id, client id, host. A trait that two instances share at one time, such
    as the host of all instances on one machine, identifies none. The name is the client id, else ``group.instance.id``,
    the host, or the process id; it never changes. The host precedes a client id with the process id.
    """

    _found: list[GroupInstance] = attrs.field(init=False, factory=list)
    _by_trait: dict[tuple[str, str], int] = attrs.field(init=False, factory=dict)
    _shared: set[tuple[str, str]] = attrs.field(init=False, factory=set)

    def note_together(self, together: Sequence[InstanceTraits]) -> None:
        """Notes traits that instances of one time share. Call it for the whole past before :meth:`name`."""
        seen: set[tuple[str, str]] = set()
        for each in together:
            own = set(_keys(each))
            self._shared |= own & seen
            seen |= own

    def name(self, traits: InstanceTraits) -> str:
        """The name of the instance with these traits; a new instance gets one."""
        keys = [key for key in _keys(traits) if key not in self._shared]
        index = next((self._by_trait[key] for key in keys if key in self._by_trait), None)
        if index is None:
            index = len(self._found)
            self._found.append(GroupInstance(self._free_name(traits), ()))
        self._found[index] = _with(self._found[index], traits)
        for key in keys:
            self._by_trait.setdefault(key, index)
        return self._found[index].name

    def known(self, trait: str) -> str:
        """The name behind a client id or another trait in a log line; the trait itself for an unknown instance."""
        keys = (("client", trait), ("process", trait), ("instance", trait))
        index = next((self._by_trait[key] for key in keys if key in self._by_trait), None)
        return trait if index is None else self._found[index].name

    @property
    def instances(self) -> tuple[GroupInstance, ...]:
        """In the order of their first appearance."""
        return tuple(self._found)

    def _free_name(self, traits: InstanceTraits) -> str:
        taken = {each.name for each in self._found}
        client = None if ("client", traits.client_id or "") in self._shared else traits.client_id
        host = None if ("host", traits.host or "") in self._shared else traits.host
        # A client id that Kafka made has the process id of its first start.
        is_generated = bool(client and traits.process_id) and str(traits.process_id) in str(client)
        wanted = [
            None if is_generated and host else client,
            traits.instance_id,
            host,
            traits.process_id,
        ]
        return next((each for each in wanted if each and each not in taken), f"instance {len(self._found) + 1}")


def _keys(traits: InstanceTraits) -> Iterable[tuple[str, str]]:
    named = {
        "instance": traits.instance_id,
        "process": traits.process_id,
        "client": traits.client_id,
        "host": traits.host,
    }
    return [(trait, value) for trait, value in named.items() if value]


def _with(instance: GroupInstance, traits: InstanceTraits) -> GroupInstance:
    process = traits.process_id
    is_new = process is not None and process not in instance.processes
    return GroupInstance(
        instance.name,
        (*instance.processes, process) if is_new and process is not None else instance.processes,
        traits.instance_id or instance.instance_id,
        traits.client_id or instance.client_id,
        traits.host or instance.host,
    )
