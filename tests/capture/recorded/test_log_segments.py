from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest

from assignor_lab.capture.recorded import log_segments
from assignor_lab.capture.recorded.batch_compression import BatchCompressionError, decompressed
from assignor_lab.capture.recorded.group_history import GroupRecord
from assignor_lab.capture.recorded.log_segments import SegmentFault, find_segments, read_segment
from assignor_lab.documents.errors import DocumentFormatError
from tests.capture.recorded.log_segment_bytes import CODECS, batch, compressed, offset_commit, record_key

NAME = "00000000000000000000.log"


def ours(offset: int, value: bytes | None = b"value") -> GroupRecord:
    return GroupRecord(offset, 1_000 + offset, record_key(2, "orders"), value)


def foreign(offset: int) -> GroupRecord:
    return GroupRecord(offset, 1_000 + offset, *offset_commit("consumers", offset))


def read(folder: Path, content: bytes) -> tuple[list[GroupRecord], list[SegmentFault]]:
    file, faults = folder / NAME, list[SegmentFault]()
    file.write_bytes(content)
    return [each for found in read_segment(file, faults.append) for each in found], faults


@pytest.mark.parametrize("codec", CODECS)
def test_records_about_groups_are_read_whatever_compresses_them(tmp_path: Path, codec: str) -> None:
    wanted = [ours(3), ours(5, None), ours(300_000, b"x" * 5_000)]
    content = batch([foreign(1), wanted[0], foreign(4)], codec) + batch(wanted[1:], codec)
    assert read(tmp_path, content) == (wanted, [])


def test_a_broker_that_stamps_batches_gives_all_their_records_one_time(tmp_path: Path) -> None:
    found, _ = read(tmp_path, batch([ours(3), ours(9)], attributes=0x08, latest_ms=77))
    assert [each.time_ms for each in found] == [77, 77]


def test_marks_of_transactions_are_passed_over(tmp_path: Path) -> None:
    assert read(tmp_path, batch([ours(3)], attributes=0x20) + batch([ours(4)])) == ([ours(4)], [])


def test_a_batch_with_a_wrong_checksum_is_counted_and_the_next_is_read(tmp_path: Path) -> None:
    broken = bytearray(batch([ours(1)]))
    broken[-2] ^= 1
    found, (fault,) = read(tmp_path, batch([ours(0)]) + broken + batch([ours(2)]))
    assert [each.offset for each in found] == [0, 2]
    assert (fault.byte, fault.length) == (len(batch([ours(0)])), len(broken))
    assert "checksum" in fault.reason


def test_half_a_batch_at_the_end_is_counted(tmp_path: Path) -> None:
    # An offset without a zero byte: zeros at the end are space that a broker reserved.
    wanted = ours(0x0101010101010101)
    whole = batch([wanted])
    for length in range(1, len(whole)):
        found, (fault,) = read(tmp_path, whole + whole[:length])
        assert (found, fault.byte, fault.length, fault.reason) == ([wanted], len(whole), length, "a batch is cut off")


def test_what_is_no_batch_ends_a_file_and_is_counted(tmp_path: Path) -> None:
    whole = batch([ours(0)])
    found, (fault,) = read(tmp_path, whole + b"\x7f" * 100 + whole)
    assert (found, fault.length) == ([ours(0)], 100 + len(whole))


def test_a_segment_that_was_made_longer_than_it_is_ends_with_its_records(tmp_path: Path) -> None:
    assert read(tmp_path, batch([ours(0)]) + bytes(1_000)) == ([ours(0)], [])


def test_a_batch_that_claims_more_than_is_read_is_counted(tmp_path: Path) -> None:
    content = struct.pack(">qiibI", 0, log_segments.MOST_BYTES + 1, 0, 2, 0) + bytes(100)
    _, (fault,) = read(tmp_path, content)
    assert "claims 67,108,865 bytes" in fault.reason


@pytest.mark.parametrize("codec", sorted(set(CODECS) - {"none"}))
def test_what_is_decompressed_is_bounded(codec: str) -> None:
    with pytest.raises(BatchCompressionError, match=r"1,000 bytes|claims"):
        decompressed(CODECS[codec], compressed(bytes(1_000_000), codec), 1_000)


def test_a_codec_that_nobody_knows_is_counted(tmp_path: Path) -> None:
    _, (fault,) = read(tmp_path, batch([ours(0)], attributes=0x06))
    assert "codec 6" in fault.reason


@pytest.mark.parametrize("codec", CODECS)
def test_whatever_bytes_come_end_in_records_and_faults(tmp_path: Path, codec: str) -> None:
    draw = random.Random(11)
    content = batch([foreign(0), ours(1)], codec) + batch([ours(2)], codec)
    for _ in range(300):
        mutated = bytearray(content)
        for _ in range(draw.randint(1, 5)):
            mutated[draw.randrange(len(mutated))] = draw.randrange(256)
        found, faults = read(tmp_path, bytes(mutated[: draw.randint(0, len(mutated))]))
        assert len(found) <= 2
        assert all(0 <= each.byte < each.byte + each.length <= len(mutated) for each in faults)


def test_segments_are_read_by_partition_and_offset(tmp_path: Path) -> None:
    for partition in (12, 3):
        folder = tmp_path / f"__consumer_offsets-{partition}"
        folder.mkdir()
        for base in (500, 0):
            (folder / f"{base:020}.log").write_bytes(batch([ours(base)]))
            (folder / f"{base:020}.index").write_bytes(b"whatever")
    found = find_segments(tmp_path.glob("*"))
    assert [(each.partition, int(each.name[:20])) for each in found] == [(3, 0), (3, 500), (12, 0), (12, 500)]


def test_a_file_that_is_no_segment_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing of the kind")
    with pytest.raises(DocumentFormatError, match=r"notes\.txt: is no log segment"):
        find_segments([tmp_path / "notes.txt"])
    with pytest.raises(DocumentFormatError, match="has no segment"):
        find_segments([tmp_path])
    with pytest.raises(DocumentFormatError, match="cannot be read"):
        find_segments([tmp_path / "missing.log"])
