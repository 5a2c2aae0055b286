"""The values that the three Python clients store, and how a row shows them."""

import datetime
import decimal
import json
import logging

from content import content, shown

logging.disable(logging.CRITICAL)

BYTES = ["hex:", "hex:61", "hex:00ff0d0a20", "hex:c3a9", "hex:fffe", "hex:3432"]
TEXTS = ["hex:", "hex:61", "hex:c3a9ed959cf09f9880", "hex:610062", "hex:3432"]
INTS = [0, 1, -1, 42, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64, -(2**63) - 1, 10**30]
FLOATS = [
    0.0, -0.0, 1.0, 1.1, -1.5, 100.0, 0.1, 1e-4, 1.5e-4, 1e-5, 1.25e-7, 1e15, 123456789012345680.0, 1e16, 1.5e16, 9007199254740993.0,
    1e22, 1e23, 1e100, 1e300, 5e-324, 1.7976931348623157e308, float("inf"), float("-inf"), float("nan"),
]
OBJECTS = [
    [1, 2], [], {"a": 1}, (1, "x"), {1}, 1j, bytearray(b"abc"), decimal.Decimal("1.10"), datetime.datetime(2020, 2, 29, 12, 34, 56, 789000),
    datetime.date(1999, 12, 31),
]


def short_values():
    """(name, value, type, value as the row shows it)"""
    for text in BYTES:
        yield f"bytes {text}", content(text), "bytes", text
    for text in TEXTS:
        yield f"str {text}", content(text).decode(), "str", text
    for value in [*INTS, True, False, *FLOATS, None, *OBJECTS]:
        yield f"{type(value).__name__} {value!r}", value, type(value).__name__, repr(value)


def few_values():
    """For settings that touch objects only."""
    for value in [True, False, None, 1.1, -0.0, 1e300, float("inf"), float("nan"), 7, 10**30, "text", b"bytes", [1, 2]]:
        shown_value = "hex:" + value.hex() if isinstance(value, bytes) else "hex:" + value.encode().hex() if isinstance(value, str) else repr(value)
        yield f"{type(value).__name__} {value!r}", value, type(value).__name__, shown_value


def long_values(threshold):
    """Around a threshold: what compresses well, hardly, and not at all."""
    for count in (threshold - 1, threshold, threshold + 1):
        for kind in ("bytes", "str"):
            yield long_value(kind, f"repeat:61*{count}")
        yield long_value("bytes", f"noise:{count}")
    yield long_value("bytes", f"noise:{threshold}+repeat:00*100")
    yield long_value("bytes", f"noise:{threshold}+repeat:00*14")
    number = 10**threshold
    yield f"int of {threshold + 1} digits", number, "int", f"hex:31+repeat:30*{threshold}"
    count = min(threshold, 240)
    numbers = list(range(count))
    yield f"list of {count}", numbers, "list", f"list(range({count}))"


def long_value(kind, description):
    value = content(description)
    return f"{kind} {description}", value.decode() if kind == "str" else value, kind, description


class Capture:
    def __init__(self, version):
        self.version, self.count = version, 0

    def write(self, config, values, put, get):
        """`put(key, value)` and `get(key)` are the client's."""
        for name, value, kind, shown_value in values:
            self.count += 1
            key = f"w{self.count}"
            row = {"version": self.version, "config": config, "op": "write", "name": name, "type": kind, "value": shown_value, "key": key}
            try:
                if not put(key, value):
                    row["set_error"] = "false"
            except Exception as error:
                row["set_error"] = type(error).__name__
            print(json.dumps({**row, "get_back": read(get, key)}))

    def read(self, config, count, get):
        for number in range(count):
            row = {"version": self.version, "config": config, "op": "read", "key": f"f{number}", "get_back": read(get, f"f{number}")}
            print(json.dumps(row))


def read(get, key):
    try:
        value = get(key)
    except Exception as error:
        return {"error": type(error).__name__}
    if isinstance(value, bytes):
        return {"type": "bytes", "value": shown(value)}
    if isinstance(value, str):
        return {"type": "str", "value": shown(value.encode())}
    if isinstance(value, int) and abs(value) > 10**100:
        return {"type": "int", "value": shown(str(value).encode())}
    if isinstance(value, list) and len(value) > 50 and value == list(range(len(value))):
        return {"type": "list", "value": f"list(range({len(value)}))"}
    return {"type": type(value).__name__, "value": repr(value)}
