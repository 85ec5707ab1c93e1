"""ONNX Runtime: graphs of one attention operator, or of a whole layer. Inputs and outputs are bound once, so that a call
copies nothing. Its CPU kernels have no bf16."""

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from protocol import LeftOut, Prepared, serve

MICROSOFT = "com.microsoft"


def session_of(work, nodes, inputs, outputs, weights=()):
    """`inputs`, `outputs`: names with their arrays. Returns the session and a binding of these arrays."""
    kinds = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int32): TensorProto.INT32}
    infos = [[helper.make_tensor_value_info(n, kinds[a.dtype], a.shape) for n, a in list_.items()] for list_ in (inputs, outputs)]
    graph = helper.make_graph(nodes, "work", *infos, [numpy_helper.from_array(a, n) for n, a in dict(weights).items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)], ir_version=8)
    options = ort.SessionOptions()
    options.intra_op_num_threads = work.threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.force_spinning_stop", "1")  # idle threads must not spin while others are timed
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array))
    held = {name: ort.OrtValue.ortvalue_from_numpy(array) for name, array in outputs.items()}
    for name, value in held.items():
        binding.bind_ortvalue_output(name, value)
    return session, binding, held


def need_f32(work):
    if work.element != "f32":
        raise LeftOut("ONNX Runtime's CPU kernels have no bf16")


def multi_head_attention(work):
    need_f32(work)
    inputs = {n: work.tokens_first(work.tensor(n)) for n in ("query", "key", "value")}
    node = helper.make_node("MultiHeadAttention", list(inputs), ["output"], domain=MICROSOFT, num_heads=work.heads, unidirectional=int(work.causal))
    session, binding, held = session_of(work, [node], inputs, {"output": np.zeros_like(inputs["query"])})
    return Prepared(lambda: session.run_with_iobinding(binding), lambda: work.heads_first(held["output"].numpy()))


def group_query_node(work, qkv):
    names = qkv + ["past_key", "past_value", "last_key", "key_count"]
    return helper.make_node("GroupQueryAttention", names, ["attended", "present_key", "present_value"], domain=MICROSOFT,
                            num_heads=work.heads, kv_num_heads=work.kv_heads)


def counts_of(work):
    return {"last_key": np.full(work.batch, work.keys - 1, np.int32), "key_count": np.array([work.keys], np.int32)}


def cache_of(work, tokens):
    return np.zeros((work.batch, work.kv_heads, tokens, work.head_dim), np.float32)


def group_query_attention(work):
    """Prefill with an empty past; this operator is causal."""
    need_f32(work)
    if not work.causal:
        return None
    inputs = {n: work.tokens_first(work.tensor(n)) for n in ("query", "key", "value")}
    inputs |= {"past_key": cache_of(work, 0), "past_value": cache_of(work, 0)} | counts_of(work)
    outputs = {"attended": np.zeros_like(inputs["query"]), "present_key": cache_of(work, work.keys), "present_value": cache_of(work, work.keys)}
    session, binding, held = session_of(work, [group_query_node(work, ["query", "key", "value"])], inputs, outputs)
    return Prepared(lambda: session.run_with_iobinding(binding), lambda: work.heads_first(held["attended"].numpy()))


def group_query_decode(work):
    """Past and present are one buffer, to which the call writes the last token's key and value."""
    need_f32(work)
    key, value = work.tensor("key"), work.tensor("value")
    inputs = {"query": work.tokens_first(work.tensor("query")), "key": work.tokens_first(key[:, :, -1:]), "value": work.tokens_first(value[:, :, -1:])}
    caches = [[ort.OrtValue.ortvalue_from_numpy(c.copy()) for c in (key, value)] for _ in range(work.copies)]
    outputs = {"attended": np.zeros_like(inputs["query"]), "present_key": key, "present_value": value}
    every = inputs | {"past_key": key, "past_value": value} | counts_of(work)
    session, binding, held = session_of(work, [group_query_node(work, ["query", "key", "value"])], every, outputs)

    def choose(copy):
        for name, cache in zip(("key", "value"), caches[copy]):
            binding.bind_ortvalue_input(f"past_{name}", cache)
            binding.bind_ortvalue_output(f"present_{name}", cache)

    choose(0)
    return Prepared(lambda: session.run_with_iobinding(binding), lambda: work.heads_first(held["attended"].numpy()), choose, len(caches))


def projected(work):
    """Weights of a layer: query, key and value side by side, and the output's."""
    parts = [work.weight(n) for n in ("query", "key", "value")]
    return {"qkv_weight": np.concatenate([m for m, _ in parts], 1), "qkv_bias": np.concatenate([b for _, b in parts]),
            "output_weight": work.weight("output")[0], "output_bias": work.weight("output")[1]}


def output_nodes():
    return [helper.make_node("MatMul", ["attended", "output_weight"], ["projected"]), helper.make_node("Add", ["projected", "output_bias"], ["output"])]


def fused_attention_layer(work):
    """com.microsoft Attention, which projects query, key and value itself."""
    need_f32(work)
    hidden = work.tensor("hidden")
    node = helper.make_node("Attention", ["hidden", "qkv_weight", "qkv_bias"], ["attended"], domain=MICROSOFT, num_heads=work.heads,
                            unidirectional=int(work.causal))
    session, binding, held = session_of(work, [node] + output_nodes(), {"hidden": hidden}, {"output": np.zeros_like(hidden)}, projected(work))
    return Prepared(lambda: session.run_with_iobinding(binding), lambda: held["output"].numpy())


def group_query_layer(work):
    """MatMul for the projections, and GroupQueryAttention, which is causal, on the packed result."""
    need_f32(work)
    if not work.causal:
        return None
    hidden = work.tensor("hidden")
    nodes = [helper.make_node("MatMul", ["hidden", "qkv_weight"], ["qkv_product"]), helper.make_node("Add", ["qkv_product", "qkv_bias"], ["qkv"]),
             group_query_node(work, ["qkv", "", ""])] + output_nodes()
    inputs = {"hidden": hidden, "past_key": cache_of(work, 0), "past_value": cache_of(work, 0)} | counts_of(work)
    outputs = {"output": np.zeros_like(hidden), "present_key": cache_of(work, work.keys), "present_value": cache_of(work, work.keys)}
    session, binding, held = session_of(work, nodes, inputs, outputs, projected(work))
    return Prepared(lambda: session.run_with_iobinding(binding), lambda: held["output"].numpy())


serve(f"onnxruntime {ort.__version__}", {
    "attention": {"MultiHeadAttention": multi_head_attention, "GroupQueryAttention": group_query_attention},
    "decode": {"GroupQueryAttention": group_query_decode},
    "layer": {"Attention": fused_attention_layer, "MatMul + GroupQueryAttention": group_query_layer},
})
