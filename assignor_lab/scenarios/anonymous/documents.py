"""Scenarios and samples with pseudonyms in place of names.

Each kept key has a rule. A key without one is left out, since it may hold any name: files, addresses, and the
sentences of members (``reason``) among them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from assignor_lab.scenarios.anonymous.names import NAMES_DECIDE, Pseudonyms
from assignor_lab.scenarios.anonymous.rules import (
    Rule,
    kafkas_class,
    list_of,
    map_of,
    number,
    record_of,
    text_of,
    word,
)
from assignor_lab.scenarios.settings import NUMBERS

__all__ = ["anonymous_document", "anonymous_sample"]

_TAGS = "rack.aware.assignment.tags"
_GUARANTEES = ("at_least_once", "exactly_once", "exactly_once_beta", "exactly_once_v2")
_STRATEGIES = ("none", "min_traffic", "balance_subtopology")
_EVENTS = (
    "start", "begun", "stop", "ended", "joining", "crash", "left", "fenced", "corrupt", "rejoined", "gone", "emptied",
)  # fmt: skip
#: The part of an id after the group's name.
_COUNTED = re.compile(r"\A(?:generation|epoch)-[0-9]{1,10}(?:-[0-9]{1,10})?\Z")
_Document = Mapping[str, Any]


def anonymous_document(document: _Document, names: Pseudonyms) -> dict[str, Any]:
    group = str(document.get("source", {}).get("group", ""))
    kind = _KINDS[document["kind"]]
    if document["kind"] == "connect":
        document = {**document, "assumptions": [*document.get("assumptions", ()), NAMES_DECIDE]}
    rules = {
        "format": number,
        "kind": word(document["kind"]),
        "id": lambda identity: _identity(str(identity), group, names),
        "config": _config(names),
        "settings": _settings(names),
        **kind(group, names),
        # Last: by then the names in sentences are known.
        "assumptions": lambda sentences: sentences,
    }
    made: dict[str, Any] = record_of(rules)(document)
    if "assumptions" in made:
        made["assumptions"] = [names.in_sentence(str(each)) for each in made["assumptions"]]
    return made


def anonymous_sample(sample: _Document, group: str, names: Pseudonyms) -> dict[str, Any]:
    """A sample of a group's topics with pseudonyms."""
    of_topics = map_of(lambda topic: names.topic(topic, group), map_of(_partition, number))
    made: dict[str, Any] = record_of({"t": number, "ends": of_topics, "bytes": of_topics})(sample)
    return made


def _identity(identity: str, group: str, names: Pseudonyms) -> str:
    """The group's pseudonym and the generation or epoch; a pseudonym for an id of another form."""
    rest = identity.removeprefix(f"{group}-") if group else identity
    if rest != identity and _COUNTED.match(rest):
        return f"{names.group(group)}-{rest}"
    return names.group(identity)


def _partition(text: str) -> str:
    return text if text.isdecimal() else ""


def _config(names: Pseudonyms) -> Rule:
    return record_of(
        {
            "num.standby.replicas": number,
            "max.warmup.replicas": number,
            "acceptable.recovery.lag": number,
            "probing.rebalance.interval.ms": number,
            _TAGS: list_of(names.tag),
            "rack.aware.assignment.strategy": word(*_STRATEGIES),
            "rack.aware.assignment.traffic_cost": number,
            "rack.aware.assignment.non_overlap_cost": number,
        }
    )


def _settings(names: Pseudonyms) -> Rule:
    """Rules of settings: classes that are not Kafka's, and a user's own assignor, are names."""

    def tags(text: str) -> str:
        return ",".join(names.tag(tag.strip()) for tag in text.split(","))

    return record_of(
        {
            **dict.fromkeys(NUMBERS, number),
            "group.protocol": word("classic", "streams"),
            "processing.guarantee": word(*_GUARANTEES),
            "dsl.store.suppliers.class": kafkas_class,
            "streams.assignor.name": word("sticky"),
            f"streams.{_TAGS}": text_of(tags),
        }
    )


def _source(names: Pseudonyms, held: Rule = number) -> Rule:
    return record_of(
        {
            "time_ms": number,
            "generation": number,
            "generations": list_of(number),
            "prepared_ms": number,
            "group": text_of(names.group),
            "assignor": text_of(names.assignor),
            "done": list_of(
                record_of(
                    {
                        "time_ms": number,
                        "type": word(*_EVENTS),
                        "client": text_of(names.client),
                        "tasks": list_of(names.task),
                    }
                )
            ),
            "restored": list_of(
                record_of(
                    {
                        "time_ms": number,
                        "client": text_of(names.client),
                        "task": names.task,
                        "store": text_of(names.store),
                        "records": number,
                    }
                )
            ),
            "waits": list_of(
                record_of(
                    {
                        "time_ms": number,
                        "client": text_of(names.client),
                        "type": word("assign", "read", "miss", "revoke"),
                        "ms": number,
                    }
                )
            ),
            "client_ids": map_of(names.member, text_of(names.client)),
            "current": list_of(record_of({"time_ms": number, "member": names.member, "active": held})),
        }
    )


# --- classic Streams --------------------------------------------------------------------------------------


def _streams(group: str, names: Pseudonyms) -> dict[str, Rule]:
    tasks = list_of(names.task)
    held = record_of({"active": tasks, "standby": tasks})
    placement = map_of(names.process, held)
    partition = {
        "topic": lambda topic: names.topic(topic, group),
        "partition": number,
        "source": number,
        "changelog": number,
        "racks": list_of(names.rack),
    }
    task = {
        "id": names.task,
        "stateful": number,
        "logged": number,
        "stores": list_of(names.store),
        "partitions": list_of(record_of(partition)),
    }
    member = record_of({"client_id": text_of(names.client), "instance_id": text_of(names.client)})
    client = {
        "process_id": names.process,
        **_who(names),
        "host": text_of(names.end_point),
        "threads": number,
        "consumers": list_of(names.member),
        "previous_active": tasks,
        "previous_standby": tasks,
        "lags": map_of(names.task, number),
        "previous_by_consumer": map_of(names.member, tasks),
        "members": map_of(names.member, member),
    }
    params = {
        "tasks": lambda chosen: chosen if chosen in ("all", "stateful", "stateless") else tasks(chosen),
        "traffic_cost": number,
        "non_overlap_cost": number,
        "via": word("legacy", "custom"),
    }
    return {
        "tasks": list_of(record_of(task)),
        "clients": list_of(record_of(client)),
        "observed": record_of({"assignment": placement, "followup": number, "threads": map_of(names.member, held)}),
        "assignment": placement,
        "params": record_of(params),
        "workload": _workload(names.task),
        "source": _source(names),
    }


def _who(names: Pseudonyms) -> dict[str, Rule]:
    return {"rack": text_of(names.rack), "tags": map_of(names.tag, names.tag_value)}


def _workload(task: Rule) -> Rule:
    of_task = record_of({"state_bytes": number, "state_records": number, "input_bytes_per_s": number, "weight": number})
    return record_of({"tasks": map_of(task, of_task), "restore_bytes_per_s": number})


# --- streams protocol -------------------------------------------------------------------------------------


def _streams_group(_group: str, names: Pseudonyms) -> dict[str, Rule]:
    held = map_of(str, list_of(number))
    offsets = map_of(str, map_of(_partition, number))
    assigned = {"active": held, "standby": held, "warmup": held}
    member = {
        "id": names.member,
        "instance_id": text_of(names.client),
        "client_id": text_of(names.client),
        "process_id": names.process,
        **_who(names),
        **assigned,
        "task_offsets": offsets,
        "task_end_offsets": offsets,
    }
    return {
        "subtopologies": list_of(record_of({"id": str, "tasks": number, "stateful": number})),
        "workload": _workload(names.task),
        "members": list_of(record_of(member)),
        "observed": record_of({"members": map_of(names.member, record_of(assigned))}),
        "source": _source(names, held),
    }


# --- Connect ----------------------------------------------------------------------------------------------


def _connect(_group: str, names: Pseudonyms) -> dict[str, Rule]:
    def task(text: str) -> str:
        """``connector-3``; a connector's name may have any character."""
        connector, dash, index = text.rpartition("-")
        return f"{names.connector(connector)}{dash}{index}"

    jobs = record_of({"connectors": list_of(names.connector), "tasks": list_of(task)})
    of_members = map_of(names.member, jobs)
    round_ = {
        "time_ms": number,
        "connectors": map_of(names.connector, number),
        "members": list_of(record_of({"id": names.member, "owned": jobs, "static": jobs})),
        "new_leader": number,
        "generation_gap": number,
    }
    answer = record_of({"delay_ms": number, "assigned": of_members, "revoked": of_members})
    return {
        "protocol": word("eager", "compatible", "sessioned", "static"),
        "max_delay_ms": number,
        "rounds": list_of(record_of(round_)),
        "observed": record_of({"rounds": list_of(lambda each: None if each is None else answer(each))}),
        "workload": _workload(task),
        "source": _source(names),
    }


_KINDS: Mapping[str, Callable[[str, Pseudonyms], dict[str, Rule]]] = {
    "streams": _streams,
    "streams-group": _streams_group,
    "connect": _connect,
}
