"""What pylibmc stores and reads."""

import sys

import pylibmc

from python_values import Capture, few_values, long_values, short_values

port, foreign = int(sys.argv[1]), int(sys.argv[2])
capture = Capture(pylibmc.__version__)


def client(**settings):
    return pylibmc.Client([f"127.0.0.1:{port}"], **settings)


def write(config, values, mc, **settings):
    capture.write(config, values, lambda key, value: mc.set(key, value, **settings), mc.get)


write("default", short_values(), client())
write("default", long_values(100), client())
write("min_compress_len=100", long_values(100), client(), min_compress_len=100)
write("min_compress_len=1", few_values(), client(), min_compress_len=1)
write("min_compress_len=100 compress_level=0", long_values(100), client(), min_compress_len=100, compress_level=0)
write("pickle_protocol=2", few_values(), client(behaviors={"pickle_protocol": 2}))
write("pickle_protocol=0", few_values(), client(behaviors={"pickle_protocol": 0}))
counter = client()
counter.set("counter", 7)
counter.incr("counter", 3)
capture.write("counter", [("int 7 incremented by 3", 0, "int", "10")], lambda key, _: counter.set(key, counter.get("counter")), counter.get)
capture.read("default", foreign, client().get)
