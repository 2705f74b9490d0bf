"""Class paths of Java assignors: their own jars and the user's Kafka, never a Kafka of ours."""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from assignment_api.plugins import PluginLoadError

__all__ = ["content_digest", "has_kafka", "is_version", "jars_in", "jars_of_version"]

_VERSION = re.compile(r"\A[0-9]+\.[0-9]+(?:[-.][0-9A-Za-z]+)*\Z")
_CLIENTS = "org/apache/kafka/common/TopicPartition.class"
#: Artifacts with the interfaces of assignors: the first is necessary, the others are used if present.
_ARTIFACTS = ("kafka-clients", "kafka-streams", "kafka-group-coordinator-api")
_GROUP = "org/apache/kafka"
#: Namespace of a pom's elements.
_POM = "{http://maven.apache.org/POM/4.0.0}"
#: Most poms to read.
_MOST_POM_BYTES = 1 << 20


def jars_in(class_path: str, subject: str) -> tuple[str, ...]:
    """Full paths of the jars and folders of a class path; ``folder/*`` means the jars of a folder, by name.

    Raises:
        PluginLoadError: if one of them is missing.
    """
    return tuple(found for item in class_path.split(":") if item.strip() for found in _expanded(item.strip(), subject))


def _expanded(item: str, subject: str) -> Iterator[str]:
    path = Path(item).expanduser().absolute()
    if path.name == "*":
        jars = sorted(path.parent.glob("*.jar"))
        if not jars:
            raise PluginLoadError(f"{subject}: there is no jar in {path.parent}, which its class path names")
        yield from map(str, jars)
    elif path.is_dir():
        yield str(path)
    elif not path.is_file():
        raise PluginLoadError(
            f"{subject}: there is no {path}, which its class path names: give jars, folders of classes, or folder/* "
            "for the jars of a folder, with colons between them (a path that has a colon or an @ in it: by a link)"
        )
    elif not zipfile.is_zipfile(path):
        raise PluginLoadError(f"{subject}: {path}, which its class path names, is no jar")
    else:
        yield str(path)


def has_kafka(jars: Iterable[str]) -> bool:
    """True if Kafka's clients are among them, as their own jar or inside an application's."""
    return any(_holds(Path(each), _CLIENTS) for each in jars)


def _holds(path: Path, name: str) -> bool:
    if path.is_dir():
        return (path / name).is_file()
    try:
        with zipfile.ZipFile(path) as jar:
            jar.getinfo(name)
    except (KeyError, OSError, zipfile.BadZipFile):
        return False
    return True


def is_version(text: str) -> bool:
    """True if ``text`` is a version, not a class path."""
    return _VERSION.match(text) is not None and not Path(text).exists()


def jars_of_version(version: str, repository: Path, subject: str) -> tuple[str, ...]:
    """The jars of a version of Kafka with their dependencies, from a local Maven repository, without downloads.

    Raises:
        PluginLoadError: if the repository lacks it.
    """
    found = {artifact: _artifact(repository, _GROUP, artifact, version) for artifact in _ARTIFACTS}
    if not found[_ARTIFACTS[0]].is_file():
        raise PluginLoadError(
            f"{subject}: Kafka {version} is not in the Maven repository {repository}: bring it there "
            f"(mvn dependency:get -Dartifact=org.apache.kafka:kafka-streams:{version}; for a broker's assignor "
            "kafka-group-coordinator-api), name another repository (assignor.java.repository), or name Kafka's jars "
            "instead of a version"
        )
    found = {artifact: jar for artifact, jar in found.items() if jar.is_file()}
    for artifact in tuple(found):
        pom = found[artifact].with_suffix(".pom")
        for group, name, needed in _dependencies(pom):
            jar = _artifact(repository, group.replace(".", "/"), name, needed)
            # Native libraries may be missing, because no assignor uses them.
            if jar.is_file():
                found.setdefault(name, jar)
    return tuple(map(str, found.values()))


def _artifact(repository: Path, group: str, name: str, version: str) -> Path:
    return repository / group / name / version / f"{name}-{version}.jar"


def _dependencies(pom: Path) -> Iterator[tuple[str, str, str]]:
    from xml.etree import ElementTree as ET

    try:
        if pom.stat().st_size > _MOST_POM_BYTES:
            return
        root = ET.fromstring(pom.read_bytes())  # noqa: S314 - of the user's own repository, and small
    except (OSError, ET.ParseError):
        return
    for each in root.iterfind(f"{_POM}dependencies/{_POM}dependency"):
        parts = [each.findtext(f"{_POM}{name}") for name in ("groupId", "artifactId", "version")]
        if all(parts) and each.findtext(f"{_POM}scope") in (None, "compile", "runtime"):
            yield parts[0] or "", parts[1] or "", parts[2] or ""


def content_digest(class_name: str, jars: Iterable[str], kafka: Iterable[str]) -> str:
    """SHA-256 (hex) of a class's name, its jars' content and the names of Kafka's jars, without paths."""
    digest = hashlib.sha256(f"{class_name}\n".encode())
    for each in jars:
        for name, file in _files(Path(each)):
            digest.update(f"{name}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    for each in kafka:
        digest.update(f"{Path(each).name}\n".encode())
    return digest.hexdigest()


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    if path.is_file():
        yield path.name, path
        return
    for each in sorted(path.rglob("*")):
        if each.is_file():
            yield str(each.relative_to(path)), each
