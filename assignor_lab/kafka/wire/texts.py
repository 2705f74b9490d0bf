"""Java's two ways from text to bytes: the modified UTF-8 of ``writeUTF``, and UTF-8 with lenient reading.

Texts may hold lone halves of surrogate pairs, as in Java.
"""

from __future__ import annotations

from assignment_api.streams.ids import utf16_key

__all__ = ["MalformedTextError", "decode_modified_utf8", "decode_utf8", "encode_modified_utf8", "encode_utf8"]

_REPLACEMENT = 0xFFFD


class MalformedTextError(ValueError):
    """Bytes are not modified UTF-8.

    Args:
        position: Index of the first byte of the faulty character.
    """

    def __init__(self, position: int) -> None:
        self.position = position
        super().__init__(f"no modified UTF-8 at byte {position}")


def encode_modified_utf8(text: str) -> bytes:
    """The bytes that ``DataOutput.writeUTF`` writes behind the length."""
    if text.isascii() and "\0" not in text:
        return text.encode("ascii")
    units = utf16_key(text)
    encoded = bytearray()
    for high, low in zip(units[::2], units[1::2], strict=True):
        unit = high << 8 | low
        if 0 < unit < 0x80:
            encoded.append(unit)
        elif unit < 0x800:
            encoded += bytes((0xC0 | unit >> 6, 0x80 | unit & 0x3F))
        else:
            encoded += bytes((0xE0 | unit >> 12, 0x80 | unit >> 6 & 0x3F, 0x80 | unit & 0x3F))
    return bytes(encoded)


def decode_modified_utf8(data: bytes) -> str:
    """The text that ``DataInput.readUTF`` reads; equally lenient: over-long forms and a plain NUL are read.

    Raises:
        MalformedTextError: where Java raises ``UTFDataFormatException``.
    """
    if data.isascii():
        return data.decode("ascii")
    units: list[int] = []
    position = 0
    while position < len(data):
        first = data[position]
        size = 1 if first < 0x80 else 2 if 0xC0 <= first < 0xE0 else 3 if 0xE0 <= first < 0xF0 else 0
        rest = data[position + 1 : position + size]
        if size == 0 or len(rest) != size - 1 or any(byte & 0xC0 != 0x80 for byte in rest):
            raise MalformedTextError(position)
        unit = first if size == 1 else first & (0x1F if size == 2 else 0x0F)
        for byte in rest:
            unit = unit << 6 | byte & 0x3F
        units.append(unit)
        position += size
    return _from_units(units)


def encode_utf8(text: str) -> bytes:
    """``text.getBytes(UTF_8)``: half of a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace")


def decode_utf8(data: bytes) -> str:
    """``new String(data, UTF_8)``: malformed bytes become U+FFFD, in Java's number."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _decoded_leniently(data)


def _decoded_leniently(data: bytes) -> str:
    # Python's number of replacement characters differs from Java's if a surrogate is spelled in three bytes.
    characters: list[str] = []
    position = 0
    while position < len(data):
        size, code = _next_character(data, position)
        characters.append(chr(code))
        position += size
    return "".join(characters)


def _next_character(data: bytes, position: int) -> tuple[int, int]:
    first = data[position]
    if first < 0x80:
        return 1, first
    size = 2 if 0xC2 <= first < 0xE0 else 3 if 0xE0 <= first < 0xF0 else 4 if 0xF0 <= first < 0xF5 else 0
    if size == 0:
        return 1, _REPLACEMENT
    code = first & (0x7F >> size)
    for offset in range(1, size):
        byte = data[position + offset] if position + offset < len(data) else None
        if byte is None or byte & 0xC0 != 0x80 or (offset == 1 and _never_second(first, byte)):
            return offset, _REPLACEMENT
        code = code << 6 | byte & 0x3F
    return size, _REPLACEMENT if 0xD800 <= code < 0xE000 else code


def _never_second(first: int, second: int) -> bool:
    """True if the second byte shows an over-long form or a number beyond Unicode."""
    return (first == 0xE0 and second < 0xA0) or (first == 0xF0 and second < 0x90) or (first == 0xF4 and second >= 0x90)


def _from_units(units: list[int]) -> str:
    packed = b"".join(unit.to_bytes(2, "big") for unit in units)
    return packed.decode("utf-16-be", "surrogatepass")
