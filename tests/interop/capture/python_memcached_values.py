"""What python-memcached stores and reads."""

import sys

import memcache

from python_values import Capture, few_values, long_values, short_values

port, foreign = int(sys.argv[1]), int(sys.argv[2])
capture = Capture(memcache.__version__)


def client(**settings):
    return memcache.Client([f"127.0.0.1:{port}"], **settings)


def write(config, values, mc, **settings):
    capture.write(config, values, lambda key, value: mc.set(key, value, **settings), mc.get)


write("default", short_values(), client())
write("default", long_values(100), client())
write("min_compress_len=100", long_values(100), client(), min_compress_len=100)
write("min_compress_len=1", few_values(), client(), min_compress_len=1)
write("pickleProtocol=2", few_values(), client(pickleProtocol=2))
write("pickleProtocol=5", few_values(), client(pickleProtocol=5))
capture.read("default", foreign, client().get)
