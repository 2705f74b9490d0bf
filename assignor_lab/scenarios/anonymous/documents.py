"""Scenarios and samples with pseudonyms in place of names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignor_lab.scenarios.anonymous.names import NAMES_DECIDE, Pseudonyms

__all__ = ["anonymous_document", "anonymous_sample"]

#: Keys of a source that name files and addresses, or hold sentences of others.
_NOT_KEPT = ("file", "line", "url", "reason")
_TAGS = "rack.aware.assignment.tags"
_STORES, _ASSIGNOR = "dsl.store.suppliers.class", "streams.assignor.name"
_Document = Mapping[str, Any]


def anonymous_document(document: _Document, names: Pseudonyms) -> dict[str, Any]:
    """A scenario of any kind with pseudonyms; names of files and addresses that it was made from are left out.

    Args:
        document: A scenario of kind ``streams``, ``streams-group`` or ``connect``.
        names: The pseudonyms.
    """
    source = dict(document.get("source", {}))
    group = str(source.get("group", ""))
    changed = _KINDS[document["kind"]](document, group, names)
    made = {**document, **changed}
    identity = str(document["id"])
    if group:
        source["group"] = names.group(group)
    if group and identity.startswith(f"{group}-"):
        made["id"] = names.group(group) + identity.removeprefix(group)
    else:
        made["id"] = names.group(identity)
    if "source" in document:
        made["source"] = {key: value for key, value in source.items() if key not in _NOT_KEPT}
        if "client_ids" in source:
            told = source["client_ids"].items()
            made["source"]["client_ids"] = {names.member(member): names.client(client) for member, client in told}
        if "restored" in source:
            made["source"]["restored"] = [
                {**each, "client": names.client(each["client"]), "store": names.store(each["store"])}
                for each in source["restored"]
            ]
        if "done" in source:
            made["source"]["done"] = [{**each, "client": names.client(each["client"])} for each in source["done"]]
    if "settings" in document:
        made["settings"] = _settings(document["settings"], names)
    if "assumptions" in made:
        made["assumptions"] = [names.in_sentence(each) for each in made["assumptions"]]
    return made


def anonymous_sample(sample: _Document, group: str, names: Pseudonyms) -> dict[str, Any]:
    """A sample of a group's topics with pseudonyms."""
    of_topics = {
        key: {names.topic(topic, group): numbers for topic, numbers in sample[key].items()} for key in ("ends", "bytes")
    }
    return {**sample, **of_topics}


def _settings(settings: _Document, names: Pseudonyms) -> dict[str, Any]:
    """Settings without names of one's own: classes that are not Kafka's, an assignor, keys of tags."""
    made = {key: value for key, value in settings.items() if key not in (_STORES, _ASSIGNOR)}
    if str(settings.get(_STORES, "")).startswith("org.apache.kafka."):
        made[_STORES] = settings[_STORES]
    if settings.get(_ASSIGNOR) == "sticky":
        made[_ASSIGNOR] = "sticky"
    if made.get(f"streams.{_TAGS}"):
        tags = made[f"streams.{_TAGS}"].split(",")
        made[f"streams.{_TAGS}"] = ",".join(names.tag(tag.strip()) for tag in tags)
    return made


# --- classic Streams --------------------------------------------------------------------------------------


def _streams(document: _Document, group: str, names: Pseudonyms) -> dict[str, Any]:
    made: dict[str, Any] = {
        "config": _config(document["config"], names),
        "tasks": [_task(task, group, names) for task in document["tasks"]],
        "clients": [_client(client, names) for client in document["clients"]],
    }
    observed = document.get("observed")
    if observed is not None:
        made["observed"] = dict(observed)
        if observed.get("threads") is not None:
            made["observed"]["threads"] = {names.member(name): held for name, held in observed["threads"].items()}
    return made


def _task(task: _Document, group: str, names: Pseudonyms) -> dict[str, Any]:
    made = dict(task)
    if task.get("stores"):
        made["stores"] = [names.store(store) for store in task["stores"]]
    if task.get("partitions"):
        made["partitions"] = [
            {
                **each,
                "topic": names.topic(each["topic"], group),
                "racks": None if each.get("racks") is None else [names.rack(rack) for rack in each["racks"]],
            }
            for each in task["partitions"]
        ]
    return made


def _client(client: _Document, names: Pseudonyms) -> dict[str, Any]:
    made = {**client, **_who(client, names)}
    if client.get("host"):
        made["host"] = names.end_point(client["host"])
    if client.get("consumers") is not None:
        made["consumers"] = [names.member(name) for name in client["consumers"]]
    if client.get("previous_by_consumer") is not None:
        made["previous_by_consumer"] = {
            names.member(name): tasks for name, tasks in client["previous_by_consumer"].items()
        }
    if "members" in client:
        made["members"] = {
            names.member(member): {key: name and names.client(name) for key, name in told.items()}
            for member, told in client["members"].items()
        }
    return made


def _who(client: _Document, names: Pseudonyms) -> dict[str, Any]:
    return {
        "rack": client["rack"] and names.rack(client["rack"]),
        "tags": {names.tag(tag): names.tag_value(value) for tag, value in client["tags"].items()},
    }


def _config(config: _Document, names: Pseudonyms) -> dict[str, Any]:
    made = dict(config)
    if made.get(_TAGS):
        made[_TAGS] = [names.tag(tag) for tag in made[_TAGS]]
    return made


# --- streams protocol -------------------------------------------------------------------------------------


def _streams_group(document: _Document, _group: str, names: Pseudonyms) -> dict[str, Any]:
    members = [
        {
            **member,
            **_who(member, names),
            "id": names.member(member["id"]),
            "instance_id": member["instance_id"] and names.client(member["instance_id"]),
            **({"client_id": names.client(member["client_id"])} if member.get("client_id") else {}),
        }
        for member in document["members"]
    ]
    made: dict[str, Any] = {"config": _config(document["config"], names), "members": members}
    if "observed" in document:
        observed = document["observed"]["members"]
        made["observed"] = {"members": {names.member(name): held for name, held in observed.items()}}
    return made


# --- Connect ----------------------------------------------------------------------------------------------


def _connect(document: _Document, _group: str, names: Pseudonyms) -> dict[str, Any]:
    made: dict[str, Any] = {
        "rounds": [_round(each, names) for each in document["rounds"]],
        "assumptions": [*document.get("assumptions", ()), NAMES_DECIDE],
    }
    if "observed" in document:
        made["observed"] = {
            "rounds": [None if each is None else _answer(each, names) for each in document["observed"]["rounds"]]
        }
    if "workload" in document:
        workload = document["workload"]
        made["workload"] = {
            key: {_named_task(task, names): each for task, each in of.items()} if key == "tasks" else of
            for key, of in workload.items()
        }
    return made


def _round(told: _Document, names: Pseudonyms) -> dict[str, Any]:
    return {
        **told,
        "connectors": {names.connector(name): number for name, number in told["connectors"].items()},
        "members": [
            {
                "id": names.member(member["id"]),
                "owned": _jobs(member["owned"], names),
                "static": _jobs(member["static"], names),
            }
            for member in told["members"]
        ],
    }


def _answer(told: _Document, names: Pseudonyms) -> dict[str, Any]:
    return {
        **told,
        **{
            key: {names.member(name): _jobs(jobs, names) for name, jobs in told[key].items()}
            for key in ("assigned", "revoked")
        },
    }


def _jobs(jobs: _Document, names: Pseudonyms) -> dict[str, list[str] | None]:
    connectors, tasks = jobs["connectors"], jobs["tasks"]
    return {
        "connectors": None if connectors is None else [names.connector(name) for name in connectors],
        "tasks": None if tasks is None else [_named_task(task, names) for task in tasks],
    }


def _named_task(task: str, names: Pseudonyms) -> str:
    """``connector-3``; a connector's name may have any character."""
    connector, dash, number = task.rpartition("-")
    return f"{names.connector(connector)}{dash}{number}"


_KINDS = {"streams": _streams, "streams-group": _streams_group, "connect": _connect}
