"""Runs one peer's script against a memcached of its own and writes what was stored: see README.md."""

import hashlib
import json
import pathlib
import pickle
import socket
import subprocess
import sys
import time
import zlib
import gzip

from content import content

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parents[1] / "golden" / "values"
LONGEST = 512

PYTHON = "/usr/bin/python3"  # the one that sees Debian's modules
SCRIPTS = {
    "pylibmc": [[PYTHON, "pylibmc_values.py"]],
    "python-memcached": [[PYTHON, "python_memcached_values.py"]],
    "pymemcache": [[PYTHON, "pymemcache_values.py"], [PYTHON, "pymemcache_values.py", "4"]],
    "dalli": [["ruby", "dalli_values.rb"]],
    "spymemcached": [["java", "-cp", "/usr/share/java/spymemcached.jar", "SpymemcachedValues.java"]],
    "perl-cache-memcached": [["perl", "perl_values.pl"]],
}

TEXT = b"plain text"
LONG = b"a" * 60
PICKLED = pickle.dumps([1, 2], 2)


def foreign(client):
    """Payloads that another program stored: (name, flags, payload as bytes)."""
    rows = [
        ("text", 0, TEXT),
        ("utf-8", 0, "\u00e9\ud55c".encode()),
        ("not utf-8", 0, b"\xff\xfe\x00"),
        ("empty", 0, b""),
        ("digits", 0, b"42"),
        ("upper bit", 0x8000_0000, TEXT),
        ("bit 16", 0x10000, TEXT),
        ("all bits", 0xffff_ffff, TEXT),
    ]
    rows += [(f"bit {bit}", 1 << bit, b"7") for bit in range(16)]
    compressed = 2 if client in ("dalli", "spymemcached", "perl-cache-memcached") else 8
    whole_zlib = zlib.compress(LONG)
    whole_gzip = gzip.compress(LONG, mtime=0)
    for form, whole in (("zlib", whole_zlib), ("gzip", whole_gzip)):
        rows += [
            (f"{form}", compressed, whole),
            (f"{form} cut", compressed, whole[:-6]),
            (f"{form} and more", compressed, whole + b"more"),
            (f"{form} twice", compressed, whole + whole),
            (f"{form} checksum", compressed, whole[:-1] + bytes([whole[-1] ^ 1])),
        ]
    rows.append(("not compressed", compressed, TEXT))
    if client == "spymemcached":
        rows += spymemcached()
    elif client == "dalli":
        rows += dalli()
    elif client == "perl-cache-memcached":
        rows += [("not storable", 1, TEXT), ("utf8 flag", 4, "\u00e9".encode()), ("utf8 flag, broken", 4, b"\xff")]
    else:
        rows += python()
    return rows


def python():
    return [
        ("int", 2, b"42"), ("int with blanks", 2, b" 42 "), ("int with sign", 2, b"+42"), ("int decremented", 2, b"9 "),
        ("int underscore", 2, b"4_2"), ("int leading zeros", 2, b"007"), ("int nul", 2, b"4\x002"), ("not int", 2, b"4x"),
        ("int empty", 2, b""), ("int too long", 2, b"1" * 30), ("int bool", 2, b"1"), ("long", 4, b"-42"), ("long with L", 4, b"42L"),
        ("text flag", 16, "\u00e9".encode()), ("text flag, broken", 16, b"\xff"), ("text and int", 18, b"42"), ("pickle and int", 3, b"42"),
        ("pickle and text", 17, TEXT),
        ("text zlib", 24, zlib.compress(LONG)), ("int zlib", 10, zlib.compress(b"42")),
        ("pickle", 1, PICKLED), ("pickle zlib", 9, zlib.compress(PICKLED)),
        ("pickle broken", 1, TEXT), ("pickle empty", 1, b""), ("pickle cut", 1, PICKLED[:-1]),
        ("pickle and more", 1, PICKLED + b"more"),
    ] + [
        (f"pickle {protocol} {name}", 1, pickle.dumps(value, protocol))
        for protocol in range(6)
        for name, value in (("None", None), ("True", True), ("False", False), ("1.5", 1.5), ("inf", float("inf")), ("1e300", 1e300), ("7", 7))
    ] + [
        ("pickle float spelled", 1, b"F1_0.5\n."), ("pickle float not a number", 1, b"Fx\n."), ("pickle int as True", 1, b"I01\n."),
        ("pickle frame too long", 1, b"\x80\x04\x95\x0b\0\0\0\0\0\0\0G?\xf8\0\0\0\0\0\0."),
        ("pickle None and more", 1, b"\x80\x02N.more"),
    ]


def spymemcached():
    stream = bytes.fromhex("aced000574000548656c6c6f")  # the string "Hello"
    rows = []
    for name, flags in (("boolean", 0x100), ("int", 0x200), ("long", 0x300), ("date", 0x400), ("byte", 0x500), ("float", 0x600),
                        ("double", 0x700), ("bytes", 0x800), ("unknown", 0x900), ("last", 0xff00)):
        rows += [(f"{name} of {length}", flags, bytes(range(0x31, 0x31 + length))) for length in (0, 1, 2, 4, 5, 8, 9)]
    rows += [
        ("object", 1, stream), ("object gzip", 3, gzip.compress(stream, mtime=0)), ("object broken", 1, TEXT), ("object empty", 1, b""),
        ("object and int", 0x201, stream), ("int gzip", 0x202, gzip.compress(b"\1\2", mtime=0)), ("object and more", 1, stream + b"more"),
        ("int and bit 16", 0x10200, b"\1\2"), ("bytes and bit 2", 0x804, TEXT),
    ]
    return rows


def dalli():
    def ivar(body):
        return b"\x04\x08I" + body

    return [
        ("marshal nil", 1, b"\x04\x080"), ("marshal broken", 1, TEXT), ("marshal empty", 1, b""), ("marshal cut", 1, b"\x04\x08\"\x0aabc"),
        ("marshal and more", 1, b"\x04\x08Tmore"), ("marshal newer minor", 1, b"\x04\x09T"), ("marshal older minor", 1, b"\x04\x07T"), ("marshal older major", 1, b"\x03\x08T"),
        ("marshal ascii", 1, ivar(b"\"\x08abc\x06:\x06EF")), ("marshal utf-8", 1, ivar(b"\"\x08abc\x06:\x06ET")),
        ("marshal utf-8, broken", 1, ivar(b"\"\x06\xff\x06:\x06ET")),
        ("marshal other encoding", 1, ivar(b"\"\x08abc\x06:\x0dencoding\"\x0eShift_JIS")),
        ("marshal no variables", 1, ivar(b"\"\x08abc\x00")), ("marshal bytes", 1, b"\x04\x08\"\x08abc"),
        ("marshal symbol", 1, b"\x04\x08:\x08abc"), ("marshal unknown class", 1, b"\x04\x08o:\x0cNoThing\x00"),
        ("marshal long fixnum", 1, b"\x04\x08i\x04\xff\xff\xff\x7f"), ("marshal wide fixnum", 1, b"\x04\x08i\x02\x05\x00"),
        ("marshal negative wide fixnum", 1, b"\x04\x08i\xfe\x00\x80"), ("marshal fixnum cut", 1, b"\x04\x08i\x04\xff"),
        ("marshal small bignum", 1, b"\x04\x08l+\x06\x05\x00"), ("marshal bignum of 64 bits", 1, b"\x04\x08l+\x09" + b"\xff" * 8),
        ("marshal bignum of 80 bits", 1, b"\x04\x08l-\x0a" + b"\xff" * 10), ("marshal negative length", 1, b"\x04\x08\"\xfa"),
        ("marshal float", 1, b"\x04\x08f\x081.5"), ("marshal float spelled", 1, b"\x04\x08f\x0a1.50x"), ("marshal float nan", 1, b"\x04\x08f\x08nan"),
        ("marshal zlib", 3, zlib.compress(b"\x04\x08T")), ("marshal gzip", 3, gzip.compress(b"\x04\x08T", mtime=0)),
    ]


class Memcached:
    """A server on a free port of the loopback, and its raw socket."""

    def __init__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = ["memcached", "-l", "127.0.0.1", "-p", str(self.port), "-U", "0", "-u", "root", "-m", "64", "-I", "8m"]
        self.process = subprocess.Popen(command)
        for _ in range(100):
            try:
                self.file = socket.create_connection(("127.0.0.1", self.port)).makefile("rwb")
                break
            except OSError:
                time.sleep(0.05)

    def set(self, key, flags, payload):
        self.file.write(f"set {key} {flags} 0 {len(payload)}\r\n".encode() + payload + b"\r\n")
        self.file.flush()
        assert self.file.readline() == b"STORED\r\n"

    def get(self, key):
        self.file.write(f"get {key}\r\n".encode())
        self.file.flush()
        line = self.file.readline().split()
        if line == [b"END"]:
            return None
        payload = self.file.read(int(line[3]))
        assert self.file.readline() == b"\r\n" and self.file.readline() == b"END\r\n"
        return int(line[2]), payload

    def end(self):
        self.process.kill()
        self.process.wait()


def capture(client):
    foreigners = foreign(client)
    rows = []
    for command in SCRIPTS[client]:
        server = Memcached()
        try:
            for number, (_, flags, payload) in enumerate(foreigners):
                server.set(f"f{number}", flags, payload)
            arguments = command + [str(server.port), str(len(foreigners))]
            run = subprocess.run(arguments, cwd=HERE, stdout=subprocess.PIPE, check=True)
            rows += [finish(json.loads(line), server, foreigners) for line in run.stdout.splitlines()]
        finally:
            server.end()
    GOLDEN.mkdir(parents=True, exist_ok=True)
    path = GOLDEN / f"{client}.jsonl"
    with path.open("w") as out:
        for row in rows:
            out.write(json.dumps({"client": client, **row}, separators=(",", ":")) + "\n")
    print(f"{path.name}: {len(rows)} rows, {path.stat().st_size} bytes")


def finish(row, server, foreigners):
    """The row with what the server has under the row's key."""
    key, back = row.pop("key"), row.pop("get_back")
    stored = server.get(key)
    if row["op"] == "read":
        row["name"] = foreigners[int(key[1:])][0]
    if stored is None:
        row.setdefault("set_error", None)
    else:
        row["flags"], row["len"], row["payload"] = stored[0], len(stored[1]), shown(stored[1], LONGEST)
    if "payload" in row and is_content(row.get("value", "")) and content(row["value"]) == stored[1]:
        row["payload"] = row["value"]
    same = back.get("type") == row.get("type") and back.get("value") in (row["value"], back_of(row["value"])) if row["op"] == "write" else False
    row["get_back"] = "same" if same else back
    return row


def is_content(text):
    return text.startswith(("hex:", "repeat:", "noise:"))


def back_of(text):
    """How the scripts show that they read this content back."""
    return shown(content(text), LONGEST) if is_content(text) else text


def shown(payload, longest):
    if len(payload) > longest:
        return "sha256:" + hashlib.sha256(payload).hexdigest()
    return "hex:" + payload.hex()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("capture.py CLIENT or all")
    for name in SCRIPTS if sys.argv[1] == "all" else [sys.argv[1]]:
        capture(name)
