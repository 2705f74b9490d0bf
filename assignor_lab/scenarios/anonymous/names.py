"""Pseudonyms: keyed hashes of names, the same for the same key in every file.

Other parts stay: numbers, times, ids of processes and members that are UUIDs, the random part of other ids, ids of
sub-topologies, which Kafka Streams counts, suffixes of internal topics, ports. So a topic is still recognizable as a
changelog of its application, members of one client still have one client, and the order of a process's threads stays.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import uuid
from pathlib import Path

import attrs

from assignment_api.input_files import open_input
from assignor_lab.documents.errors import DocumentFormatError

__all__ = ["NAMES_DECIDE", "Pseudonyms", "is_pseudonym", "read_pseudonyms"]

_FEWEST_BYTES, _MOST_BYTES = 16, 4096
_DIGITS = 12
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
#: Of a Streams thread's consumer, which may be a static member's; of any other client.
_THREAD = re.compile(rf"\A(.*?)(-StreamThread-\d+(?:-consumer)?(?:-{_UUID})?)\Z", re.DOTALL)
_MEMBER = re.compile(rf"\A(.*)(-{_UUID})\Z", re.DOTALL)
#: The two forms of a random UUID: Java's, and that of Kafka's ``Uuid``, the member ids of newer protocols.
_JAVA_UUID = re.compile(rf"\A{_UUID}\Z")
_KAFKA_UUID = re.compile(r"\A[A-Za-z0-9_-]{22}\Z")
#: A task of a named topology.
_NAMED_TASK = re.compile(r"\A(.+)(__[0-9]{1,10}_[0-9]{1,10})\Z", re.DOTALL)
_TASK = re.compile(r"\A[0-9]{1,10}_[0-9]{1,10}\Z")
_INTERNAL = re.compile(
    r"\A(.*)(-changelog|-repartition|-subscription-registration-topic|-subscription-response-topic)\Z"
)
_END_POINT = re.compile(r"((?:[a-z][a-z0-9+.-]*://)?/?)(\[[^\]]*\]|[^/:]*)((?::\d{1,5})?.*)\Z", re.DOTALL)


_PSEUDONYM = re.compile(r"\A[a-z]+-[0-9a-f]{12}\Z")
NAMES_DECIDE = (
    "names are pseudonyms: Kafka's assignors of Connect give jobs out in the order of the names of connectors and "
    "workers and of those names' hashes, so answers may place jobs otherwise than with the true names, and figures "
    "differ"
)


def is_pseudonym(name: str) -> bool:
    """True if a name has the form of one from :class:`Pseudonyms`."""
    return _PSEUDONYM.match(name) is not None


def read_pseudonyms(key_file: Path) -> Pseudonyms:
    """Pseudonyms with the key in a file: its bytes, without white space around them.

    Raises:
        DocumentFormatError: if the file cannot be read, or is too short or too long for a key. The message never
            contains the key.
    """
    try:
        with open_input(key_file) as stream:
            key = stream.read(_MOST_BYTES + 1).strip()
    except OSError as error:
        raise DocumentFormatError(
            str(key_file),
            None,
            "",
            f"cannot be read: {error.strerror or error}; make a key: openssl rand -hex 32 > FILE",
        ) from error
    if not _FEWEST_BYTES <= len(key) <= _MOST_BYTES:
        raise DocumentFormatError(
            str(key_file), None, "", f"a key has {_FEWEST_BYTES} to {_MOST_BYTES} bytes: openssl rand -hex 32 > FILE"
        )
    return Pseudonyms(key)


@attrs.define(eq=False)
class Pseudonyms:
    """Pseudonyms by one key."""

    _key: bytes = attrs.field(repr=False)
    replaced: dict[str, str] = attrs.field(factory=dict, repr=False, init=False)

    @property
    def fingerprint(self) -> str:
        """Distinguishes two keys, and reveals neither."""
        return hmac.new(self._key, b"fingerprint", hashlib.sha256).hexdigest()[:_DIGITS]

    def group(self, name: str) -> str:
        """Of a group, which is the application's id, too."""
        return self._of("group", name)

    def topic(self, name: str, group: str) -> str:
        """Of a topic; internal ones of ``group`` keep their owner, their purpose, and their common store."""
        internal = _INTERNAL.match(name)
        if internal is not None and internal[1].startswith(f"{group}-"):
            stem = internal[1].removeprefix(f"{group}-")
            return self._kept(name, f"{self.group(group)}-{self.store(stem)}{internal[2]}")
        return self._of("topic", name)

    def store(self, name: str) -> str:
        """Of a state store, or of another part in an internal topic's name."""
        return self._of("store", name)

    def client(self, name: str) -> str:
        """Of a client's id or a ``group.instance.id``; a thread's keeps its number."""
        if not name:
            return name
        thread = _THREAD.match(name)
        if thread is not None:
            return self._kept(name, self._of("client", thread[1]) + thread[2])
        return self._of("client", name)

    def member(self, name: str) -> str:
        """Of a member's id: that of its client, and the random part. An id that is a UUID stays."""
        if not name or _is_uuid(name):
            return name
        if _THREAD.match(name):
            return self.client(name)
        member = _MEMBER.match(name)
        return self._kept(name, self.client(member[1]) + member[2]) if member is not None else self.client(name)

    def process(self, name: str) -> str:
        """Of a process's id, unless it is a UUID."""
        return name if not name or _is_uuid(name) else self._of("process", name)

    def task(self, name: str) -> str:
        """Of a task's id: the name of its topology, if it has one."""
        named = _NAMED_TASK.match(name)
        if named is not None:
            return self._kept(name, self._of("topology", named[1]) + named[2])
        return name if _TASK.match(name) else self._of("task", name)

    def assignor(self, name: str) -> str:
        """Of the class of an assignor, unless it is Kafka's."""
        return name if name.startswith("org.apache.kafka.") else self._of("assignor", name)

    def end_point(self, text: str) -> str:
        """Of an address, ``host:port`` or a URL: the host's; scheme and port stay."""
        match = _END_POINT.match(text)
        if match is None or not match[2]:
            return self._of("host", text) if text.strip("/") else text
        rest = re.match(r"(?::\d{1,5})?/?", match[3])
        return self._kept(text, match[1] + self._of("host", match[2]) + (rest[0] if rest else ""))

    def rack(self, name: str) -> str:
        return self._of("rack", name)

    def tag(self, name: str) -> str:
        return self._of("tag", name)

    def tag_value(self, name: str) -> str:
        return self._of("value", name)

    def connector(self, name: str) -> str:
        return self._of("connector", name)

    def in_sentence(self, text: str) -> str:
        """A sentence with every name that was replaced so far, longer ones first."""
        known = sorted((name for name in self.replaced if len(name) > 1), key=len, reverse=True)
        if not known:
            return text
        pattern = "|".join(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])" for name in known)
        return re.sub(pattern, lambda found: self.replaced[found[0]], text)

    def _of(self, kind: str, name: str) -> str:
        digest = hmac.new(self._key, f"{kind}\0{name}".encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
        return self._kept(name, f"{kind}-{digest[:_DIGITS]}")

    def _kept(self, name: str, pseudonym: str) -> str:
        self.replaced[name] = pseudonym
        return pseudonym


def _is_uuid(text: str) -> bool:
    """True if a text is a UUID, and not only of its length: names of 22 letters are no random bytes."""
    if _JAVA_UUID.match(text):
        return True
    if not _KAFKA_UUID.match(text):
        return False
    content = base64.urlsafe_b64decode(f"{text}==")
    found = uuid.UUID(bytes=content)
    is_canonical = base64.urlsafe_b64encode(content).decode().rstrip("=") == text
    return is_canonical and found.variant == uuid.RFC_4122 and found.version == 4
