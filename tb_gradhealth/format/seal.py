"""A checksum at the end of each stored message, so that damage is noticed by whoever reads it.

TensorBoard's fast loader checks none of the sums of the file, and a bit that has turned over in a norm is a norm like
any other. The seal is one more field of the message, of a number that no message uses: a parser that does not know of
it passes over it. Cost: a few microseconds for a record of a thousand variables.
"""

import struct
import zlib

_SUM = struct.Struct("<I")
_HEAD = b"\xa2\x06\x08seal"  # field 100, eight bytes: four that say what they are, four of the sum
_SIZE = len(_HEAD) + _SUM.size


def sealed(payload: bytes) -> bytes:
    """The message with its seal."""
    return payload + _HEAD + _SUM.pack(zlib.crc32(payload))


def unsealed(payload: bytes) -> bytes:
    """The message without its seal; one that has none as it is: it was written before there were seals.

    Raises:
      ValueError: the sum is not that of the message.
    """
    content, seal = payload[:-_SIZE], payload[-_SIZE:]
    if not seal.startswith(_HEAD):
        return payload
    if seal[len(_HEAD) :] != _SUM.pack(zlib.crc32(content)):
        raise ValueError("its checksum is not that of its content: the file is damaged there")
    return content
