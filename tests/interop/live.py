"""Python's pylibmc, pymemcache and python-memcached, driven line by line; the lines are described in
tests/it/interop/script.rs.

    python3 live.py COMPAT HOST:PORT[:WEIGHT]...
"""

import sys

# Long enough to be compressed: the Rust side counts on this number.
COMPRESS = 10_000
# For how many seconds a server that failed is left alone: longer than a test.
DEAD = 60


class Pylibmc:
    def __init__(self, compat, servers):
        import pylibmc

        parts = compat.split("/")
        behaviors = {"connect_timeout": 500, "retry_timeout": DEAD}
        if parts[1] == "ketama-weighted":
            behaviors["ketama"] = True
            behaviors["ketama_weighted"] = True
        else:
            behaviors["hash"] = parts[2].replace("-", "_")
            behaviors["distribution"] = parts[1]
        if parts[1] != "modula":
            behaviors.update(remove_failed=1, failure_limit=1)
        self.client = pylibmc.Client([":".join(server) for server in servers], behaviors=behaviors)

    def set(self, key, value):
        return self.client.set(key, value, min_compress_len=COMPRESS)

    def get(self, key):
        return self.client.get(key)

    def count(self, key, number):
        return self.client.set(key, number)

    def incr(self, key, by):
        return self.client.incr(key, by)

    def delete(self, key):
        return self.client.delete(key)


class PythonMemcached(Pylibmc):
    def __init__(self, compat, servers):
        import memcache

        servers = [(":".join(server[:2]), int(*server[2:]) or 1) for server in servers]
        self.client = memcache.Client(servers, dead_retry=DEAD)


class Pymemcache(Pylibmc):
    def __init__(self, compat, servers):
        from pymemcache import serde
        from pymemcache.client.hash import HashClient

        servers = [(host, int(port)) for host, port in servers]
        self.client = HashClient(
            servers, serde=serde.pickle_serde, default_noreply=False, connect_timeout=0.5, timeout=2,
            retry_attempts=0, dead_timeout=DEAD)

    def set(self, key, value):
        return self.client.set(key, value)


def parse(kind, data):
    return {
        "text": lambda: bytes.fromhex(data).decode(),
        "bytes": lambda: bytes.fromhex(data),
        "int": lambda: int(data),
        "float": lambda: float(data),
        "bool": lambda: data == "1",
    }[kind]()


def show(kind, value):
    form = {
        ("text", str): lambda: value.encode().hex(),
        ("bytes", bytes): lambda: value.hex(),
        ("int", int): lambda: str(value),
        ("float", float): lambda: repr(value),
        ("bool", bool): lambda: str(int(value)),
    }.get((kind, type(value)))
    return f"{kind} {form()}" if form else f"other {type(value).__name__}"


def answer(client, verb, key, *rest):
    if verb == "set":
        return "stored" if client.set(key, parse(rest[0], rest[1] if rest[1:] else "")) else "failed"
    if verb == "get":
        value = client.get(key)
        return "miss" if value is None else show(rest[0], value)
    if verb == "delete":
        return "deleted" if client.delete(key) else "failed"
    if verb == "count":
        return "stored" if client.count(key, int(rest[0])) else "failed"
    if verb == "incr":
        total = client.incr(key, int(rest[0]))
        return "miss" if total is None else f"int {total}"
    return "unknown"


def main():
    compat = sys.argv[1].split("+")[0]
    kind = {"libmemcached": Pylibmc, "python-memcached": PythonMemcached, "pymemcache": Pymemcache}
    client = kind[compat.split("/")[0]](compat, [server.split(":") for server in sys.argv[2:]])
    sys.stdin.reconfigure(encoding="utf-8", newline="\n")
    print("ready", flush=True)
    for line in sys.stdin:
        try:
            reply = answer(client, *line.rstrip("\n").split(" "))
        except Exception as error:
            reply = f"failed {type(error).__name__}"
        print(reply, flush=True)


main()
