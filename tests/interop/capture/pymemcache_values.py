"""What pymemcache stores and reads; with a first argument 4, its release 4 from the folder PYMEMCACHE_4."""

import os
import sys

release_4 = sys.argv[1] == "4" and len(sys.argv) == 4
if release_4:
    sys.path.insert(0, os.environ["PYMEMCACHE_4"])
port, foreign = int(sys.argv[-2]), int(sys.argv[-1])

import pymemcache
from pymemcache import serde
from pymemcache.client.base import Client

from python_values import Capture, few_values, long_values, short_values

capture = Capture(pymemcache.__version__)


def client(**settings):
    return Client(("127.0.0.1", port), **settings)


def write(config, values, mc):
    capture.write(config, values, lambda key, value: mc.set(key, value, noreply=False), mc.get)


if release_4:
    small = client(serde=serde.CompressedSerde(min_compress_len=1))
    write("no serde", few_values(), client())
    write("pickle_serde", few_values(), client(serde=serde.pickle_serde))
    write("compressed_serde", long_values(400), client(serde=serde.compressed_serde))
    write("CompressedSerde(min_compress_len=1)", few_values(), small)
    capture.read("compressed_serde", foreign, client(serde=serde.compressed_serde).get)
else:
    functions = client(serializer=serde.python_memcache_serializer, deserializer=serde.python_memcache_deserializer)
    write("no serde", short_values(), client())
    write("no serde, encoding=utf-8", few_values(), client(encoding="utf-8"))
    write("pickle_serde", short_values(), client(serde=serde.pickle_serde))
    write("PickleSerde(2)", few_values(), client(serde=serde.PickleSerde(2)))
    write("PickleSerde(0)", few_values(), client(serde=serde.PickleSerde(0)))
    write("python_memcache_serializer", few_values(), functions)
    capture.read("pickle_serde", foreign, client(serde=serde.pickle_serde).get)
