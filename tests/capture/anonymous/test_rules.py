"""Every kept key has a rule; every id that is no UUID is hashed."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import attrs
import pytest

from assignor_lab.capture.recorded.anonymous_records import anonymous_record
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.capture.recorded.group_records import (
    CURRENT_ASSIGNMENT,
    STREAMS_MEMBER,
    STREAMS_METADATA,
    TARGET_MEMBER,
    decoded_record,
    read_group_key,
)
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.scenarios.anonymous import Pseudonyms, anonymous_document, anonymous_sample
from tests.capture.anonymous.test_figures import FILES, KEY, documents, one_worker_has_it
from tests.capture.flight_recording import records
from tests.capture.live.recorded_lives import STREAMS

NAME = "payroll-of-acme"


def every_object(value: Any) -> list[dict[str, Any]]:
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [*([value] if isinstance(value, dict) else []), *(each for part in below for each in every_object(part))]


@pytest.mark.parametrize("file", [*FILES, None])
def test_unknown_keys_are_left_out_wherever_they_are(file: str | None) -> None:
    known = [one_worker_has_it("a", "b")] if file is None else documents(file, 3)
    for document in known:
        plain = anonymous_document(document, Pseudonyms(KEY))
        told: dict[str, Any] = json.loads(json.dumps(document))
        told.setdefault("source", {})["reasons"] = [NAME]
        records_of_lists = [each for each in every_object(told) if "id" in each or "time_ms" in each]
        for each in [told["source"], *records_of_lists]:
            each["named_by"] = NAME
        assert NAME not in json.dumps(anonymous_document(told, Pseudonyms(KEY)))
        if "source" in document:
            assert anonymous_document(told, Pseudonyms(KEY)) == plain


@pytest.mark.parametrize("file", FILES)
def test_a_document_with_pseudonyms_is_still_one_and_loses_no_known_key(file: str) -> None:
    for document in documents(file):
        made = anonymous_document(document, Pseudonyms(KEY))
        scenario_from_document(made, Place("states.jsonl", 1))
        assert set(document) == set(made)
        for key in ("tasks", "clients", "members", "subtopologies"):
            assert [list(each) for each in made.get(key, ())] == [list(each) for each in document.get(key, ())]


@pytest.mark.parametrize(
    ("name", "is_kept"),
    [
        ("customer-payroll-prod1", False),
        ("acme-payroll-consumers", False),
        ("AAAAAAAAAAAAAAAAAAAAAA", False),
        ("6f9619ff-8b86-4011-b42d-00c04fc964ff", True),
        ("b5lh_4uGQBG0LQDAT8lk_w", True),
        ("b5lh_4uGQBG0LQDAT8lk_x", False),
        ("process-1", False),
    ],
)
def test_an_id_stays_only_if_it_decodes_as_a_uuid(name: str, is_kept: bool) -> None:
    names = Pseudonyms(KEY)
    assert (names.member(name) == name) is is_kept
    assert (names.process(name) == name) is is_kept


def test_members_of_real_groups_keep_their_random_ids() -> None:
    ids = {each.member for record in records(STREAMS) if (each := read_group_key(record.key)) and each.member}
    names = Pseudonyms(KEY)
    assert ids
    assert {names.member(each) for each in ids} == ids


def test_settings_stay_and_ids_of_clients_are_hashed_alike() -> None:
    document = documents("golden/streams-group/sticky.scenarios.jsonl.gz")[0]
    first = document["members"][0]
    first |= {"client_id": NAME, "instance_id": f"{NAME}-1", "process_id": NAME}
    document["settings"] = {"streams.session.timeout.ms": 10_000, "streams.assignor.name": NAME, "sasl.password": NAME}
    document["source"] = {"client_ids": {first["id"]: NAME}}
    names = Pseudonyms(KEY)
    made = anonymous_document(document, names)
    assert made["settings"] == {"streams.session.timeout.ms": 10_000}
    assert (
        made["members"][0]["client_id"] == names.client(NAME) == made["source"]["client_ids"][names.member(first["id"])]
    )
    assert made["members"][0]["instance_id"] == names.client(f"{NAME}-1")
    assert NAME not in json.dumps(made)


def test_names_of_topologies_and_assignors_are_hashed() -> None:
    document = documents("golden/recorded/orders-2.scenarios.jsonl.gz")[0]
    document["source"] = {**document.get("source", {}), "assignor": f"com.{NAME}.Mine"}
    document["id"] = f"{document['source'].get('group', '')}-{NAME}"
    made = anonymous_document(json.loads(json.dumps(document).replace('"0_', f'"{NAME}__0_')), Pseudonyms(KEY))
    assert NAME not in json.dumps(made)
    scenario_from_document(made, Place("states.jsonl", 1))


def test_fields_that_no_version_has_yet_are_left_out_of_records() -> None:
    kinds = set()
    for record in records(STREAMS):
        found = read_group_key(record.key)
        # The last byte counts tagged fields; a sub-topology or a setting may end with one of its own.
        if found is None or record.value is None or record.value[-1] or found.type in kinds:
            continue
        kinds.add(found.type)
        later = attrs.evolve(record, value=record.value[:-1] + bytes([1, 99, len(NAME)]) + NAME.encode())
        with suppress(BrokerAnswerError):
            assert NAME.encode() not in (anonymous_record(later, Pseudonyms(KEY)).value or b"")
    assert {STREAMS_MEMBER, TARGET_MEMBER, CURRENT_ASSIGNMENT} <= kinds


def test_a_sample_keeps_its_known_keys_alone() -> None:
    sample = {"t": 1, "ends": {NAME: {"0": 5}}, "bytes": {}, "host": NAME}
    made = anonymous_sample(sample, "orders", Pseudonyms(KEY))
    assert list(made) == ["t", "ends", "bytes"]
    assert NAME not in json.dumps(made)


def test_process_ids_and_settings_of_records_are_hashed_unless_they_are_no_names() -> None:
    kinds = {STREAMS_MEMBER: 0, STREAMS_METADATA: 0}
    for record in records(STREAMS):
        found = read_group_key(record.key)
        if found is None or found.type not in kinds or record.value is None:
            continue
        kinds[found.type] += 1
        message, version = decoded_record(found.type, record.value, "record")
        if found.type == STREAMS_MEMBER:
            kept = str(message.process_id)
            message.process_id = NAME
            assert kept.encode() in (anonymous_record(record, Pseudonyms(KEY)).value or b"")
        changed = attrs.evolve(record, value=bytes(message.encode(version=version)))
        assert NAME.encode() not in (anonymous_record(changed, Pseudonyms(KEY)).value or b"")
    assert all(kinds.values())
