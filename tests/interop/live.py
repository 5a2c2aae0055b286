"""Python's pylibmc, pymemcache and python-memcached, driven line by line; the lines are described in
tests/it/interop/script.rs.

    python3 live.py COMPAT HOST:PORT[:WEIGHT]...
"""

import sys

# Long enough to be compressed: the Rust side counts on this number.
COMPRESS = 10_000
# For how many seconds a server that failed is left alone: longer than a test.
DEAD = 60


class Peer:
    """What the three clients' calls have in common."""

    # What `incr` raises where others return None.
    missing = ()

    def set(self, key, value):
        return self.client.set(key, value, min_compress_len=COMPRESS)

    def get(self, key):
        return self.client.get(key)

    def delete(self, key):
        return self.client.delete(key)

    def incr(self, key, by):
        try:
            return self.client.incr(key, by)
        except self.missing:
            return None


class Pylibmc(Peer):
    def __init__(self, compat, servers):
        import pylibmc

        self.missing = pylibmc.NotFound
        _, distribution, *rest = compat.split("/")
        behaviors = {"connect_timeout": 500, "retry_timeout": DEAD}
        if distribution == "ketama-weighted":
            behaviors.update(ketama=True, ketama_weighted=True, remove_failed=1, failure_limit=1)
        else:
            behaviors.update(distribution=distribution, hash=rest[0].replace("-", "_"))
        self.client = pylibmc.Client([":".join(server) for server in servers], behaviors=behaviors)


class PythonMemcached(Peer):
    def __init__(self, compat, servers):
        import memcache

        weighted = [(f"{host}:{port}", int(rest[0]) if rest else 1) for host, port, *rest in servers]
        self.client = memcache.Client(weighted, dead_retry=DEAD)


class Pymemcache(Peer):
    def __init__(self, compat, servers):
        from pymemcache import serde
        from pymemcache.client.hash import HashClient

        self.client = HashClient(
            [(host, int(port)) for host, port in servers], serde=serde.pickle_serde,
            default_noreply=False, connect_timeout=0.5, timeout=2, retry_attempts=0, dead_timeout=DEAD)

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
        return "stored" if client.client.set(key, int(rest[0])) else "failed"
    if verb == "incr":
        total = client.incr(key, int(rest[0]))
        return "miss" if total is None else f"int {total}"
    return "unknown"


def main():
    compat = sys.argv[1].split("+")[0]
    peers = {"libmemcached": Pylibmc, "python-memcached": PythonMemcached, "pymemcache": Pymemcache}
    client = peers[compat.split("/")[0]](compat, [server.split(":") for server in sys.argv[2:]])
    sys.stdin.reconfigure(encoding="utf-8", newline="\n")
    print("ready", flush=True)
    for line in sys.stdin:
        try:
            reply = answer(client, *line.rstrip("\n").split(" "))
        except Exception as error:
            reply = f"failed {type(error).__name__}"
        print(reply, flush=True)


main()
