"""What every peer shares: the protocol of docs/benchmarks.md, on one side the program `attune bench`, on the other ways to
compute a work.

A peer's program calls serve(version, ways), with its ways by the form of work that they are for. A way is a function of a
Work that returns a Prepared, or None where it is not meant for that work, or raises LeftOut with the reason why it cannot
compute what one would expect of it."""

import ctypes
import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import numpy as np


class LeftOut(Exception):
    """One sentence: why a way cannot compute a work."""


@dataclass
class Prepared:
    """A work ready to run. Copies are those of K and V; `choose` makes the next call read one of them, untimed."""

    run: Callable[[], None]
    result: Callable[[], np.ndarray]  # float32: [batch, head, query, feature] or [batch, query, feature]
    choose: Callable[[int], None] = lambda copy: None
    copies: int = 1
    next: int = 0


@dataclass
class Work:
    """Query, key, value [batch, head, token, feature], or a layer's hidden states [batch, token, feature] and weights."""

    form: str  # "attention"; "decode": attention of one query; "layer"
    element: str  # "f32" or "bf16": how tensors are stored
    batch: int
    heads: int
    kv_heads: int
    head_dim: int
    model_dim: int
    queries: int
    keys: int
    causal: bool
    copies: int  # of K and V, used in turn so that a call finds none in a cache
    threads: int
    cores: list
    folder: str

    def tensor(self, name):
        """An input as float32; bf16 values are exact in it."""
        tokens, heads = (self.queries, self.heads) if name in ("query", "hidden") else (self.keys, self.kv_heads)
        shape = (self.batch, tokens, self.model_dim) if name == "hidden" else (self.batch, heads, tokens, self.head_dim)
        file = Path(self.folder) / f"{name}.bin"
        if self.element == "f32":
            return np.fromfile(file, np.float32).reshape(shape)
        return (np.fromfile(file, np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(shape)

    def weight(self, name):
        """(matrix [feature in, feature out], bias [feature out]) of "query", "key", "value" or "output", float32."""
        bias = np.fromfile(Path(self.folder) / f"{name}_bias.bin", np.float32)
        return np.fromfile(Path(self.folder) / f"{name}_weight.bin", np.float32).reshape(-1, bias.size), bias

    def tokens_first(self, tensor):
        """[batch, head, token, feature] -> [batch, token, head x feature], contiguous."""
        batch, heads, tokens, features = tensor.shape
        return np.ascontiguousarray(tensor.transpose(0, 2, 1, 3)).reshape(batch, tokens, heads * features)

    def heads_first(self, tensor):
        """[batch, token, head x feature] -> [batch, head, token, feature]."""
        return tensor.reshape(self.batch, self.queries, self.heads, self.head_dim).transpose(0, 2, 1, 3)


def to_bf16(values):
    """float32 -> the upper 16 bits as uint16, rounded to nearest, ties to even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (np.ascontiguousarray(bits).view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def in_one_line(error):
    """What kind of error, and its last words: libraries put the cause there."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else ''}"[:300]


def prepare_ways(work, ways, prepared, version):
    prepared.clear()
    left_out = {}
    for name, way in ways.get(work.form, {}).items():
        try:
            ready = way(work)
            if ready:
                prepared[name] = ready
        except LeftOut as why:
            left_out[name] = str(why)
        except Exception as error:  # one way of a library failing says nothing about the others
            left_out[name] = in_one_line(error)
    return {"version": version, "ways": list(prepared), "left_out": left_out}


def touch_large_memory():
    """Reads a byte of every 4 KiB of the large arrays, untimed, as is done for our own: a virtual machine's host may have put
    pages aside that nobody used for a second."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        fields = line.split()
        begin, end = (int(address, 16) for address in fields[0].split("-"))
        if fields[1] == "rw-p" and len(fields) == 5 and end - begin >= 16 << 20:  # without a file
            np.frombuffer((ctypes.c_uint8 * (end - begin)).from_address(begin), np.uint8)[::4096].max()


def run(ready, calls):
    nanoseconds = []
    if ready.copies > 1:
        touch_large_memory()
    for _ in range(calls):
        ready.choose(ready.next)
        ready.next = (ready.next + 1) % ready.copies
        start = time.perf_counter_ns()
        ready.run()
        nanoseconds.append(time.perf_counter_ns() - start)
    return {"nanoseconds": nanoseconds}


def answer(request, ways, prepared, version):
    if "prepare" in request:
        work = Work(**request["prepare"])
        os.sched_setaffinity(0, work.cores)  # threads that libraries start from here on stay there too
        return prepare_ways(work, ways, prepared, version)
    if "run" in request:
        return run(prepared[request["run"]], request["calls"])
    if "result" in request:
        np.ascontiguousarray(prepared[request["result"]].result(), np.float32).tofile(request["file"])
        return {"ok": True}
    return {"error": f"unknown request: {json.dumps(request)[:100]}"}


def serve(version, ways):
    """Answers requests until standard input ends. What libraries print goes to standard error."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    prepared = {}
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line), ways, prepared, version)
        except Exception as error:
            reply = {"error": in_one_line(error)}
        print(json.dumps(reply), file=replies, flush=True)
