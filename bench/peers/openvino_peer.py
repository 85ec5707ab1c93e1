"""OpenVINO: static graphs around ScaledDotProductAttention, and the paged attention of its model servers for decoding."""

import numpy as np
import openvino as ov
from openvino import opset13 as op
from openvino.op import _PagedAttentionExtension as PagedAttention

from protocol import Prepared, from_bf16, serve, to_bf16

TYPES = {"f32": ov.Type.f32, "bf16": ov.Type.bf16}
BLOCK = 32  # keys in a block of the paged cache: the only size that the CPU plugin takes


class Held:
    """A tensor in the work's element, in memory of our own."""

    def __init__(self, work, values):
        self.array = np.ascontiguousarray(values, np.float32) if work.element == "f32" else to_bf16(values)
        self.tensor = ov.Tensor(self.array, ov.Shape(self.array.shape), TYPES[work.element])

    def values(self):
        return self.array if self.array.dtype == np.float32 else from_bf16(self.array).reshape(self.array.shape)


def compiled(work, model):
    settings = {"INFERENCE_NUM_THREADS": work.threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY", "ENABLE_CPU_PINNING": False,
                "INFERENCE_PRECISION_HINT": work.element, "KV_CACHE_PRECISION": work.element}
    return ov.Core().compile_model(model, "CPU", settings).create_infer_request()


def parameter(work, shape):
    return op.parameter(ov.PartialShape(list(shape)), TYPES[work.element])


def ready(request, inputs, output):
    """The request with its tensors, which live as long as what is returned."""
    for i, held in enumerate(inputs):
        request.set_input_tensor(i, held.tensor)
    request.set_output_tensor(0, output.tensor)
    return Prepared(lambda: inputs and request.infer(), output.values)


def attention(work):
    inputs = [Held(work, work.tensor(n)) for n in ("query", "key", "value")]
    nodes = [parameter(work, i.array.shape) for i in inputs]
    request = compiled(work, ov.Model([op.scaled_dot_product_attention(*nodes, causal=work.causal)], nodes))
    return ready(request, inputs, Held(work, np.zeros(inputs[0].array.shape)))


def layer(work):
    hidden = Held(work, work.tensor("hidden"))
    x = parameter(work, hidden.array.shape)

    def linear(node, name):
        matrix, bias = (op.constant(w) for w in work.weight(name))
        if work.element == "bf16":
            matrix, bias = op.convert(matrix, "bf16"), op.convert(bias, "bf16")
        return op.add(op.matmul(node, matrix, False, False), bias)

    def heads(node):
        split = op.reshape(node, np.array([work.batch, work.queries, work.heads, work.head_dim]), False)
        return op.transpose(split, np.array([0, 2, 1, 3]))

    attended = op.scaled_dot_product_attention(*(heads(linear(x, n)) for n in ("query", "key", "value")), causal=work.causal)
    joined = op.reshape(op.transpose(attended, np.array([0, 2, 1, 3])), np.array([work.batch, work.queries, work.heads * work.head_dim]), False)
    request = compiled(work, ov.Model([linear(joined, "output")], [x]))
    return ready(request, [hidden], Held(work, np.zeros(hidden.array.shape)))


def paged_node(work, query, key, value, key_cache, value_cache, past, tokens, blocks, block_begins, longest):
    """The extension's 28 inputs; those behind the 13th switch features off by being empty."""

    def none(kind, rank=1):
        return op.constant(np.zeros([0] * rank, kind))

    number = op.constant(np.int32(0))
    scale = op.constant(np.float32(work.head_dim**-0.5))
    inputs = [query, key, value, key_cache, value_cache, past, tokens, blocks, block_begins, scale, number, none(np.float32), longest]
    inputs += [none(np.int32), none(np.int32), none(np.int32), none(np.float32)]  # score aggregation; rotation of blocks
    inputs += [none(np.float32), number, number]  # sparse prefill
    inputs += [none(np.float32), number, none(np.int32), none(np.int32), none(np.int32)]  # sinks; eviction of keys
    inputs += [none(np.int32), none(np.uint8), none(np.int32)]  # token types; query-to-query bias
    node = PagedAttention([i.output(0) for i in inputs])
    for part in ("k", "v"):
        node.get_rt_info()[f"num_{part}_heads"], node.get_rt_info()[f"{part}_head_size"] = work.kv_heads, work.head_dim
    return node


def paged_decode(work):
    """The call writes the last token's key and value to the cache, then attends to all keys."""
    features = {n: work.tokens_first(work.tensor(n))[0, -1:] for n in ("query", "key", "value")}
    inputs = [Held(work, f) for f in features.values()]
    blocks = -(-work.keys // BLOCK)

    def cache(name):
        paged = np.zeros((work.kv_heads, blocks * BLOCK, work.head_dim), np.float32)
        paged[:, : work.keys] = work.tensor(name)[0]
        return Held(work, paged.reshape(work.kv_heads, blocks, BLOCK, work.head_dim).transpose(1, 0, 2, 3))

    first = [cache("key"), cache("value")]
    caches = [first] + [[Held(work, c.values()) for c in first] for _ in range(work.copies - 1)]
    numbers = [np.array(n, np.int32) for n in ([work.keys - 1], [0, 1], range(blocks), [0, blocks])] + [np.array(work.keys, np.int32)]
    nodes = [parameter(work, [-1, f.shape[-1]]) for f in features.values()] + [parameter(work, [-1, work.kv_heads, BLOCK, work.head_dim]) for _ in first]
    nodes += [op.parameter(ov.PartialShape([-1] * n.ndim), ov.Type.i32) for n in numbers]
    request = compiled(work, ov.Model([paged_node(work, *nodes).output(0)], nodes))
    for i, number in enumerate(numbers):
        request.set_input_tensor(5 + i, ov.Tensor(number.copy()))

    def choose(copy):
        for i, held in enumerate(caches[copy]):
            request.set_input_tensor(3 + i, held.tensor)

    choose(0)
    prepared = ready(request, inputs, Held(work, np.zeros((1, work.heads * work.head_dim))))
    prepared.choose, prepared.copies = choose, len(caches)
    return prepared


serve(f"openvino {ov.__version__.split('-')[0]}", {
    "attention": {"ScaledDotProductAttention, static": attention},
    "decode": {"PagedAttention": paged_decode},
    "layer": {"static graph": layer},
})
