"""From one call of ONNX's Attention to a spec in Attune's language and the tensors of a call of it."""

import hashlib
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np

from node_test import DataSet, NodeTest, NotExpressible

ELEMENTS = {np.dtype(np.float32): "f32", np.dtype(np.float16): "f16", np.dtype(ml_dtypes.bfloat16): "bf16"}
SOFTMAX_IN_F32 = (1, 10, 16)  # TensorProto's float, float16, bfloat16: f32 holds what each of them holds
ATTRIBUTES = {"is_causal", "kv_num_heads", "q_num_heads", "qk_matmul_output_mode", "scale", "softcap", "softmax_precision"}
# By qk_matmul_output_mode: what returns<...> names, and the tensor.
SCORE_RESULTS = [("scaled_scores", "scaled_scores"), ("capped_scores", "capped_scores"), ("masked_scores", "masked_scores"), ("weights", "attention_weights")]
MASK_AXES = ("axis::batch", "axis::head", "axis::query", "axis::key")


@dataclass
class Call:
    """`spec` is the chain as C++ writes it. Tensors go by Attune's names, with axes in the order of layout<bhsd>.
    `appended`, if there is a past: the tensors that join new keys and values to it before the call.
    `results` are ONNX's outputs: the arrays that append and call fill; views of them are among the tensors."""

    spec: str
    tensors: dict[str, np.ndarray]
    numbers: dict[str, float]
    appended: dict[str, np.ndarray] = field(default_factory=dict)
    results: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def struct(self) -> str:
        return "attention_" + hashlib.sha256(self.spec.encode()).hexdigest()[:12]


def translate(case: NodeTest, data: DataSet) -> Call:
    check_attributes(case.attributes)
    attributes, inputs = case.attributes, data.inputs
    query = with_heads(inputs["Q"], attributes.get("q_num_heads"), "q_num_heads")
    key = with_heads(inputs["K"], attributes.get("kv_num_heads"), "kv_num_heads")
    value = with_heads(inputs["V"], attributes.get("kv_num_heads"), "kv_num_heads")
    if not query.dtype == key.dtype == value.dtype:
        raise NotExpressible(f"Q, K and V are of the types {query.dtype}, {key.dtype}, {value.dtype}; a spec has one element type")
    if query.dtype not in ELEMENTS:
        raise NotExpressible(f"elements of type {query.dtype}; a spec takes f32, f16 or bf16")

    call = Call("", {"query": query, "key": key, "value": value}, {})
    if "past_key" in inputs:
        key, value = append_to_past(inputs, call)
    operands = [f"heads<{query.shape[1]}>", f"kv_heads<{key.shape[1]}>", f"head_dim<{query.shape[3]}>",
                f"value_dim<{value.shape[3]}>", f"element<{ELEMENTS[query.dtype]}>"]
    scores = numbers_of_scores(attributes, call)
    mask = causal(attributes, inputs, query, key) + mask_tensor(case, inputs, call) + lengths(inputs, call)
    returns = results(case, data, call)
    call.spec = (f"operands({', '.join(operands)}) | scores({', '.join(scores)}) | mask({', '.join(mask)}) | softmax()"
                 f" | weighted_sum({returns})")
    return call


def check_attributes(attributes: dict) -> None:
    for name in attributes.keys() - ATTRIBUTES:
        raise NotExpressible(f"the attribute {name} is none that Attention has in opsets 23 and 24")
    if attributes.get("softmax_precision", 1) not in SOFTMAX_IN_F32:
        raise NotExpressible(f"softmax_precision {attributes['softmax_precision']}: Attune's softmax is f32")


def with_heads(x: np.ndarray, heads: int | None, attribute: str) -> np.ndarray:
    """[batch, token, head * dim] or [batch, head, token, dim] as the latter, without a copy."""
    if x.ndim == 4:
        return x
    if heads is None:
        raise NotExpressible(f"inputs of rank {x.ndim} need the attribute {attribute}")
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(0, 2, 1, 3)


def append_to_past(inputs: dict, call: Call) -> tuple[np.ndarray, np.ndarray]:
    """Caches that hold the past and have room for the new keys and values."""
    past = inputs["past_key"].shape[2]
    for name in ("key", "value"):
        new = call.tensors[name]
        cache = np.empty((*new.shape[:2], past + new.shape[2], new.shape[3]), new.dtype)
        cache[:, :, :past] = inputs[f"past_{name}"]
        call.appended |= {name: cache, f"new_{name}": new}
        call.tensors[name] = cache
    call.appended["key_lengths"] = np.full(call.tensors["key"].shape[0], past, np.int32)
    return call.tensors["key"], call.tensors["value"]


def numbers_of_scores(attributes: dict, call: Call) -> list[str]:
    """Numbers that the node states go with the call: ONNX keeps them in f32, and one kernel then serves them all."""
    properties = []
    if "scale" in attributes:
        properties.append("scale<runtime>")
        call.numbers["scale"] = attributes["scale"]
    if attributes.get("softcap", 0) > 0:
        properties.append("softcap<runtime>")
        call.numbers["softcap"] = attributes["softcap"]
    return properties


def causal(attributes: dict, inputs: dict, query: np.ndarray, key: np.ndarray) -> list[str]:
    """ONNX lets query i attend to keys up to past + i, whatever the lengths."""
    if not attributes.get("is_causal", 0):
        return []
    past = inputs["past_key"].shape[2] if "past_key" in inputs else 0
    if past == 0:
        return ["causal<align::top_left>"]
    if key.shape[2] == past + query.shape[2]:
        return ["causal<align::bottom_right>"]
    return [f"[](auto at) {{ return at.key - at.query <= {past}; }}"]


def mask_tensor(case: NodeTest, inputs: dict, call: Call) -> list[str]:
    """Axes along which the mask is one value are left out of the spec; the key axis is always there."""
    mask = inputs.get("attn_mask")
    if mask is None:
        return []
    keys = call.tensors["key"].shape[2]
    if mask.shape[-1] < keys and case.opset >= 24:
        missing = [(0, 0)] * (mask.ndim - 1) + [(0, keys - mask.shape[-1])]
        mask = np.pad(mask, missing, constant_values=False if mask.dtype == bool else -np.inf)
    mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
    mask = np.broadcast_to(mask, mask.shape[:3] + (keys,))
    kept = [a for a in range(4) if a == 3 or mask.shape[a] != 1]
    mask = np.ascontiguousarray(mask.reshape([mask.shape[a] for a in kept]))
    axes = ", ".join(MASK_AXES[a] for a in kept)
    if mask.dtype == bool:
        call.tensors["boolean_mask"] = mask
        return [f"boolean<{axes}>"]
    if mask.dtype not in ELEMENTS:
        raise NotExpressible(f"a mask of type {mask.dtype}; a spec takes bool, f32, f16 or bf16")
    call.tensors["additive_mask"] = mask
    return [f"additive<{ELEMENTS[mask.dtype]}, {axes}>"]


def lengths(inputs: dict, call: Call) -> list[str]:
    if "nonpad_kv_seqlen" not in inputs:
        return []
    call.tensors["key_lengths"] = inputs["nonpad_kv_seqlen"].astype(np.int32)
    return ["key_lengths"]


def results(case: NodeTest, data: DataSet, call: Call) -> str:
    """Makes the arrays for ONNX's outputs, and returns the properties of weighted_sum that the call needs for them."""
    query, key, value = (call.tensors[name] for name in ("query", "key", "value"))
    batch, heads, queries, _ = query.shape
    if data.inputs["Q"].ndim == 4:
        call.results["Y"] = np.empty((batch, heads, queries, value.shape[3]), query.dtype)
    else:
        call.results["Y"] = np.empty((batch, queries, heads * value.shape[3]), query.dtype)
    call.tensors["output"] = with_heads(call.results["Y"], heads, "q_num_heads")
    if "present_key" in data.outputs:
        call.results |= {"present_key": key, "present_value": value}
    if "qk_matmul_output" not in data.outputs:
        return ""
    result, tensor = SCORE_RESULTS[case.attributes.get("qk_matmul_output_mode", 0)]
    call.tensors[tensor] = np.empty((batch, heads, queries, key.shape[2]), np.float32)
    call.results["qk_matmul_output"] = call.tensors[tensor]
    return f"returns<{result}>"
