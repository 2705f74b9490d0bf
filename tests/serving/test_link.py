"""Frames take bounded time and no more memory than the sent bytes, for any behaviour of the other end."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignor_lab.documents.frames import framed
from assignor_lab.serving.errors import PeerError
from assignor_lab.serving.link import DescriptorLink

Ends = tuple[socket.socket, DescriptorLink]
SOON = 0.05


@pytest.fixture
def ends() -> Iterator[Ends]:
    near, far = socket.socketpair()
    with near, far:
        yield near, DescriptorLink(far.fileno(), far.fileno())


def test_a_document_comes_as_it_was_sent(ends: Ends) -> None:
    near, link = ends
    DescriptorLink(near.fileno(), near.fileno()).send({"name": "Zoë", "numbers": [1, None, True]})
    assert link.receive() == {"name": "Zoë", "numbers": [1, None, True]}


def test_the_end_between_two_frames_is_no_fault(ends: Ends) -> None:
    near, link = ends
    near.sendall(framed([1]))
    near.close()
    assert link.receive() == [1]
    assert link.receive() is None


@pytest.mark.parametrize("sent", [b"\0", b"\0\0\0\5", framed([1, 2])[:-1]])
def test_a_frame_that_breaks_off_is_a_fault(ends: Ends, sent: bytes) -> None:
    near, link = ends
    near.sendall(sent)
    near.close()
    with pytest.raises(PeerError, match="closed in the middle of a frame"):
        link.receive()


@pytest.mark.parametrize("sent", [b"\0", b"\0\0\0\5", b"\0\0\0\5[1"])
def test_a_frame_that_does_not_go_on_is_given_up(ends: Ends, sent: bytes) -> None:
    near, link = ends
    near.sendall(sent)
    with pytest.raises(PeerError, match="in time"):
        link.receive(seconds=SOON)


def test_a_frame_that_is_too_long_is_not_read(ends: Ends) -> None:
    near, link = ends
    near.sendall(b"\xff\xff\xff\xff")
    with pytest.raises(PeerError, match="4,294,967,295 bytes was announced, and 1 to 100 are read"):
        link.receive(100)


def test_who_does_not_take_what_is_sent_is_given_up(ends: Ends) -> None:
    _, link = ends
    with pytest.raises(PeerError, match="in time"):
        link.send("x" * 10_000_000, SOON)


def test_who_has_gone_is_a_fault_of_theirs(ends: Ends) -> None:
    near, link = ends
    near.close()
    with pytest.raises(PeerError, match="closed"):
        link.send([1])


@given(st.binary(max_size=60))
def test_any_bytes_are_a_document_or_a_typed_error(sent: bytes) -> None:
    near, far = socket.socketpair()
    with near, far:
        near.sendall(sent)
        near.close()
        link = DescriptorLink(far.fileno(), far.fileno())
        try:
            while link.receive(1_000) is not None:
                pass
        except PeerError:
            pass
        else:
            # Whole frames with JSON, or nothing.
            assert not sent or len(sent) > 4
