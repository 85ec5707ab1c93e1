"""llama.cpp: the attention operator of its graphs, ggml_flash_attn_ext, as llama.cpp calls it: query f32, key and value in a
type of its cache, causal through an f16 mask. Called in the libraries that come with the package llama-cpp-python."""

import ctypes
from functools import partial
from importlib.metadata import files, version
from pathlib import Path

import numpy as np

from protocol import Prepared, serve, to_bf16

TYPES = {"f32": 0, "f16": 1, "bf16": 30}  # enum ggml_type
STORED = {"f32": lambda a: np.ascontiguousarray(a, np.float32), "f16": lambda a: a.astype(np.float16), "bf16": to_bf16}
pointer = ctypes.c_void_p


class InitParameters(ctypes.Structure):
    """struct ggml_init_params"""

    _fields_ = [("bytes", ctypes.c_size_t), ("buffer", pointer), ("no_allocation", ctypes.c_bool)]


class Plan(ctypes.Structure):
    """struct ggml_cplan"""

    _fields_ = [("work_size", ctypes.c_size_t), ("work_data", pointer), ("threads", ctypes.c_int), ("pool", pointer),
                ("abort", pointer), ("abort_data", pointer), ("only_reference", ctypes.c_bool)]


def load():
    folder = next(Path(f.locate()).parent for f in files("llama-cpp-python") if f.name.startswith("libggml-base.so"))
    base, cpu = (ctypes.CDLL(str(folder / f"libggml-{n}.so"), mode=ctypes.RTLD_GLOBAL) for n in ("base", "cpu"))
    for library, name, result, *arguments in (
        (base, "ggml_init", pointer, InitParameters),
        (base, "ggml_new_tensor_4d", pointer, pointer, ctypes.c_int, *[ctypes.c_int64] * 4),
        (base, "ggml_flash_attn_ext", pointer, *[pointer] * 5, *[ctypes.c_float] * 3),
        (base, "ggml_new_graph", pointer, pointer),
        (base, "ggml_build_forward_expand", None, pointer, pointer),
        (base, "ggml_get_data", pointer, pointer),
        (cpu, "ggml_graph_plan", Plan, pointer, ctypes.c_int, pointer),
        (cpu, "ggml_graph_compute", ctypes.c_int, pointer, ctypes.POINTER(Plan)),
        (cpu, "ggml_cpu_init", None),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    cpu.ggml_cpu_init()
    return base, cpu


ggml, ggml_cpu = load()


def flash_attention(cache_type, work):
    if (work.element == "f32") != (cache_type == "f32"):
        return None
    arrays = {n: work.tensor(n) for n in ("query", "key", "value")}
    context = ggml.ggml_init(InitParameters((64 << 20) + (work.copies + 2) * 3 * sum(a.nbytes for a in arrays.values()), None, False))

    def tensor(array, kind):
        stored = STORED[kind](array)
        made = ggml.ggml_new_tensor_4d(context, TYPES[kind], *stored.shape[::-1])
        ctypes.memmove(ggml.ggml_get_data(made), stored.ctypes.data, stored.nbytes)
        return made

    query = tensor(arrays["query"], "f32")
    later = np.triu(np.full((1, 1, work.queries, work.keys), -np.inf, np.float32), 1)
    mask = tensor(later, "f16") if work.causal else None

    def call_on_copy():
        """A graph of one operator on keys and values of its own, with the memory that it works in."""
        attended = ggml.ggml_flash_attn_ext(context, query, tensor(arrays["key"], cache_type), tensor(arrays["value"], cache_type), mask,
                                            work.head_dim**-0.5, 0.0, 0.0)
        graph = ggml.ggml_new_graph(context)
        ggml.ggml_build_forward_expand(graph, attended)
        plan = ggml_cpu.ggml_graph_plan(graph, work.threads, None)
        memory = np.zeros(plan.work_size + 64, np.uint8)
        plan.work_data = memory.ctypes.data
        return attended, graph, plan, memory

    calls = [call_on_copy() for _ in range(work.copies)]
    chosen = [calls[0]]

    def choose(copy):
        chosen[0] = calls[copy]

    def run():
        _, graph, plan, _ = chosen[0]
        if ggml_cpu.ggml_graph_compute(graph, ctypes.byref(plan)) != 0:
            raise RuntimeError("ggml_graph_compute failed")

    def result():
        shape = (work.batch, work.queries, work.heads * work.head_dim)
        data = ctypes.cast(ggml.ggml_get_data(chosen[0][0]), ctypes.POINTER(ctypes.c_float))
        return work.heads_first(np.ctypeslib.as_array(data, shape))

    return Prepared(run, result, choose, len(calls))


ways = {f"ggml_flash_attn_ext, {t} K and V": partial(flash_attention, t) for t in ("f32", "f16", "bf16")}
serve(f"llama-cpp-python {version('llama-cpp-python')}", {"attention": ways, "decode": ways})
