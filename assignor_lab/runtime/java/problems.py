"""Messages for Java assignors that cannot be loaded, each with its remedy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["problem_sentence"]

_FILE_VERSION = re.compile(r"class file version (\d+)")
#: Class file version of Java 1.0, minus one.
_FIRST_VERSION = 44
_STREAMS = ".kafka.streams.processor.assignment.TaskAssignor"
#: Ends of the names of the public interfaces.
_INTERFACES = (
    _STREAMS,
    ".kafka.clients.consumer.ConsumerPartitionAssignor",
    ".kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor",
    ".kafka.coordinator.group.api.assignor.ShareGroupPartitionAssignor",
)
_INTERNAL = "org.apache.kafka.streams.processor.internals.assignment."


def problem_sentence(subject: str, class_name: str, program: str, hello: Mapping[str, Any]) -> str:
    kind, detail = str(hello.get("problem")), str(hello.get("detail"))[:500]
    kafka = f"Kafka {hello['kafka']}" if hello.get("kafka") else "this Kafka"
    sentences = {
        "kafka": _without_interface(kafka, detail),
        "class": f"there is no class {class_name} on its class path: add the jar that has it, and check the spelling "
        "(Outer$Inner for a class in a class)",
        "type": _no_assignor(class_name, kafka, detail),
        "abstract": f"{class_name} is an interface or an abstract class: name a class that can be made",
        "constructor": f"{class_name} has no constructor without arguments, which Kafka calls: add one, and read "
        "settings in configure()",
        "version": _too_new(class_name, program, detail, hello),
        "missing": f"{class_name} needs the class {detail}, which is neither on its class path nor in {kafka}: add its "
        "jar after a colon",
    }
    return f"{subject}: {sentences.get(kind, f'{class_name} cannot be loaded with {kafka}: {detail}')}"


def _without_interface(kafka: str, name: str) -> str:
    if name.endswith(_STREAMS):
        return (
            f"{kafka} has no TaskAssignor of KIP-924, which came with Kafka 3.8: name 3.8 or later "
            "(assignor.java.kafka), with kafka-streams"
        )
    return f"{kafka} has no {name}: name 3.8 or later (assignor.java.kafka), with kafka-group-coordinator-api"


def _no_assignor(class_name: str, kafka: str, implemented: str) -> str:
    if _INTERNAL in implemented:
        return (
            f"{class_name} is an internal assignor of Kafka, without the public interface: the lab has these of its "
            "own (high_availability, legacy_sticky, fallback_prior)"
        )
    relocated = [each for each in implemented.split(", ") if each.endswith(_INTERFACES)]
    if relocated:
        return (
            f"{class_name} implements {relocated[0]}, of a Kafka that was relocated into its jar, and no "
            "Kafka calls that: build the jar without relocating Kafka"
        )
    return (
        f"{class_name} is no assignor: it has to implement org.apache.kafka.streams.processor.assignment.TaskAssignor, "
        "org.apache.kafka.clients.consumer.ConsumerPartitionAssignor, or ConsumerGroupPartitionAssignor or "
        f"ShareGroupPartitionAssignor of org.apache.kafka.coordinator.group.api.assignor, of {kafka}"
    )


def _too_new(class_name: str, program: str, detail: str, hello: Mapping[str, Any]) -> str:
    match = _FILE_VERSION.search(detail)
    needed = f"Java {int(match[1]) - _FIRST_VERSION}" if match else "a later Java"
    return (
        f"{class_name} was compiled for {needed}, and {program} is Java {hello.get('java')}: name a later one "
        "(assignor.java.home), or compile it for this one (--release)"
    )
