"""The content of long values, from its short description: see README.md."""

import hashlib


def content(description):
    out = b""
    for piece in description.split("+"):
        kind, _, rest = piece.partition(":")
        if kind == "hex":
            out += bytes.fromhex(rest)
        elif kind == "repeat":
            byte, _, count = rest.partition("*")
            out += bytes.fromhex(byte) * int(count)
        elif kind == "noise":
            out += noise(int(rest))
        else:
            raise ValueError(piece)
    return out


def noise(count):
    x, out = 1, bytearray()
    for _ in range(count):
        x = (x * 1103515245 + 12345) % (1 << 31)
        out.append(x >> 16 & 0xFF)
    return bytes(out)


def shown(data):
    """For what was read back."""
    if len(data) > 512:
        return "sha256:" + hashlib.sha256(data).hexdigest()
    return "hex:" + data.hex()
