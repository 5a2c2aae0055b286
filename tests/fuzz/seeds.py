#!/usr/bin/env python3
"""Writes the first inputs of each fuzz target from the captured replies, values and addresses of tests/golden: `seeds.py FOLDER`."""

import hashlib
import json
import struct
import sys
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
LONGEST = 4096


def lines(path):
    return [json.loads(line) for line in (GOLDEN / path).read_text().splitlines()]


def unhex(digits):
    """None for a payload that is too long to be shown."""
    try:
        return bytes.fromhex(digits)
    except ValueError:
        return None


def replies():
    """The replies to the commands that the client sends, each with the numbers that stand for its command in `replies` and `client`."""
    kinds = {
        "get": ([0], [0, 2, 3, 14, 16]), "gets": ([1], [1, 4, 17]), "gat": ([0], [5]), "gats": ([1], [5]),
        "set": ([2], [7, 18]), "add": ([3], [8]), "replace": ([3], [8]), "append": ([3], [10]), "prepend": ([3], [10]),
        "cas": ([4], [9]), "delete": ([5], [11, 19]), "touch": ([6], [12]), "incr": ([7], [13, 15]), "decr": ([7], [13, 15]),
        "mg": ([8], [6]), "flush_all": ([9], [22]), "verbosity": ([9], [23]), "version": ([10], [20]), "stats": ([11], [21]),
    }
    for row in lines("protocol/transcripts.jsonl"):
        for step in row["steps"]:
            sent, reply = step.get("send"), step.get("recv")
            if isinstance(sent, str) and isinstance(reply, str) and sent.split(" ")[0].strip() in kinds:
                yield kinds[sent.split(" ")[0].strip()], reply.encode("latin-1", "replace")


def content(text):
    """What tests/interop/capture/README.md calls a description of content, as far as it is short."""
    out = b""
    for piece in text.split("+"):
        kind, _, rest = piece.partition(":")
        if kind == "hex":
            out += bytes.fromhex(rest)
        elif kind == "repeat":
            byte, _, count = rest.partition("*")
            out += bytes.fromhex(byte) * min(int(count), LONGEST)
        else:
            return None
    return out


def values():
    """Flags and payload of every captured value."""
    for path in sorted((GOLDEN / "compat/values").glob("*.jsonl")):
        for row in lines(path.relative_to(GOLDEN)):
            payload = unhex(row["payload_hex"]) if isinstance(row.get("payload_hex"), str) else None
            if payload is not None and isinstance(row.get("flags"), int):
                yield row["flags"], payload
    for path in sorted((GOLDEN / "values").glob("*.jsonl")):
        for row in lines(path.relative_to(GOLDEN)):
            payload = content(row["payload"]) if isinstance(row.get("payload"), str) else None
            if payload is not None and isinstance(row.get("flags"), int):
                yield row["flags"], payload
    for row in json.loads((GOLDEN / "compat/values/php-malformed.json").read_text()):
        payload = unhex(row["payload_hex"])
        if payload is not None:
            yield row["flags"], payload


def seeds():
    for (decoders, calls), reply in replies():
        for kind in decoders:
            yield "replies", struct.pack("<BH", kind, len(reply) // 2) + reply
        for call in calls:
            # The client asks for the keys k, ka and kb.
            for way in (0, 1):
                yield "client", struct.pack("<BBH", call, way, len(reply) // 2) + reply
    for body in (b"k 0 1\r\nx", b"k 7 5\r\nhello", b"kb 0 0\r\n", b"ka 0 2\r\nxy\r\nVALUE k 0 1\r\nx", b"k 0 9 4\r\n123456789"):
        reply = b"VALUE " + body + b"\r\nEND\r\n"
        for call in (0, 1, 2, 3, 4, 5, 14, 16, 17):
            yield "client", struct.pack("<BBH", call, 0, 0) + reply
        yield "replies", struct.pack("<BH", 0, 9) + reply
    for flags, payload in values():
        yield "transcoders", struct.pack("<I", flags & 0xFFFFFFFF) + payload
        if flags & 0x50 == 0x50:
            yield "fastlz", payload[:4] + b"\1" + payload[4:]
        if flags & 0xF == 4:
            yield "php_serialize", payload
    for text in (
        "host", "10.0.0.1:11211", "h:1:5", "[::1]:7:2", "[fe80::1%eth0]", "unix:/run/mc.sock", "unix:///run/mc.sock",
        "/run/mc.sock", "h/10.0.0.1:7:2", "h/[::1]", "whalin/new-compat", "libmemcached/ketama-weighted", "a:99999", "a:+1",
    ):
        yield "server_addr", text.encode()
        yield "config", b"\7" + text.encode() + b"\nb:2:3" + b"app:\0key"


for target, data in seeds():
    if len(data) <= LONGEST:
        folder = Path(sys.argv[1]) / target
        folder.mkdir(parents=True, exist_ok=True)
        (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)
