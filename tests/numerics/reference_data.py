"""Writes reference_data.json: attention by numpy in float64, as whole arrays, to hold the scalar reference against.

Run by hand:  python3 reference_data.py > reference_data.json
It shares nothing with the C++ reference but the meaning of a spec: masks are arrays here, softmax is numpy's exp and sum.
Element n of the tensor with number s is ((7919 n + 104729 s) mod 2003 - 1001) / 500, exact in both languages.
"""
import json
import numpy as np


def tensor(s, *shape):
    n = np.arange(int(np.prod(shape)), dtype=np.int64)
    return (((7919 * n + 104729 * s) % 2003 - 1001) / 500.0).reshape(shape)


def stored(x, element):
    x = x.astype(np.float32)
    if element == "f16":
        return x.astype(np.float16).astype(np.float64)
    if element == "bf16":
        bits = x.view(np.uint32).astype(np.uint64)
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
        x = bits.astype(np.uint32).view(np.float32)
    return x.astype(np.float64)


def attention(c, q, k, v):
    b, h, nq, d = q.shape
    nk = k.shape[2]
    k, v = (np.repeat(t, h // k.shape[1], axis=1) for t in (k, v))
    s = np.einsum("bhqd,bhkd->bhqk", q, k) * c["scale"]
    if c.get("softcap"):
        s = np.tanh(s / c["softcap"]) * c["softcap"]
    i, j = np.arange(nq)[:, None], np.arange(nk)[None, :]
    if c.get("alibi"):
        s = s + (2.0 ** -(1.0 + np.arange(h)))[None, :, None, None] * (j - i)
    position = i if c["causal"] == "top_left" else i + nk - nq
    keep = np.ones((b, h, nq, nk), bool)
    if c["causal"] != "off":
        keep &= j <= position
    if c.get("window") is not None:
        keep &= j >= position - c["window"]
    if c.get("key_lengths"):
        keep &= (j < np.array(c["key_lengths"])[:, None, None])[:, None]
    if c.get("boolean"):
        keep &= (tensor(8, b, 1, nq, nk) > -1.0)
    if c.get("additive"):
        s = s + tensor(9, 1, h, 1, nk)
    s = np.where(keep, s, -np.inf)
    top = np.max(s, axis=-1, keepdims=True, initial=-np.inf)
    e = np.exp(s - np.where(np.isfinite(top), top, 0.0))
    total = e.sum(-1, keepdims=True)
    w = np.divide(e, total, out=np.zeros_like(e), where=total > 0)
    with np.errstate(divide="ignore"):
        lse = (np.where(np.isfinite(top), top, 0.0) + np.log(total))[..., 0]
    return w @ v, lse, w


def solve(c):
    b, nq, nk, h, g, d, dv, e = (c[n] for n in ("batch", "queries", "keys", "heads", "kv_heads", "head_dim", "value_dim", "element"))
    if c.get("model_dim"):
        m = c["model_dim"]
        x = stored(tensor(1, b, nq, m), e)

        def project(s, heads, dim):
            y = x @ stored(tensor(s, m, heads * dim) / m, e) + tensor(s + 20, heads * dim).astype(np.float32)
            return stored(y, e).reshape(b, nq, heads, dim).transpose(0, 2, 1, 3)

        q, k, v = project(2, h, d), project(3, g, d), project(4, g, dv)
    else:
        q, k, v = (stored(tensor(s, b, n, length, dim), e) for s, n, length, dim in ((1, h, nq, d), (2, g, nk, d), (3, g, nk, dv)))
    out, lse, weights = attention(c, q, k, v)
    if c.get("model_dim"):
        o = stored(out, e).transpose(0, 2, 1, 3).reshape(b, nq, h * dv)
        out = o @ stored(tensor(5, h * dv, c["model_dim"]) / (h * dv), e) + tensor(25, c["model_dim"]).astype(np.float32)
    finite = [x if np.isfinite(x) else "-inf" for x in lse.ravel().tolist()]
    return dict(c, output=out.ravel().tolist(), lse=finite, weights=weights.ravel().tolist())


plain = dict(batch=1, queries=3, keys=3, heads=1, kv_heads=1, head_dim=4, value_dim=4, element="f32", scale=0.5, causal="off")
cases = [
    dict(plain, name="plain"),
    dict(plain, name="grouped heads, three batches", batch=3, heads=4, kv_heads=2, queries=2, keys=5),
    dict(plain, name="one kv head", heads=3, kv_heads=1, head_dim=3, scale=3**-0.5),
    dict(plain, name="value_dim apart", head_dim=5, value_dim=2),
    dict(plain, name="causal bottom_right, more keys", causal="bottom_right", queries=3, keys=7),
    dict(plain, name="causal bottom_right, more queries", causal="bottom_right", queries=5, keys=2),
    dict(plain, name="causal top_left, more keys", causal="top_left", queries=3, keys=6),
    dict(plain, name="causal top_left, more queries", causal="top_left", queries=6, keys=3),
    dict(plain, name="causal and window", causal="bottom_right", window=2, queries=6, keys=8),
    dict(plain, name="causal top_left and window", causal="top_left", window=1, queries=6, keys=4),
    dict(plain, name="window without causal", window=1, queries=4, keys=6),
    dict(plain, name="softcap", softcap=0.75, scale=2.0),
    dict(plain, name="score function", alibi=True, heads=2, kv_heads=2, queries=4, keys=4),
    dict(plain, name="key lengths, one of them 0", key_lengths=[4, 0, 2], batch=3, keys=4),
    dict(plain, name="boolean mask", boolean=True, batch=2, heads=2, kv_heads=1, queries=4, keys=5),
    dict(plain, name="additive mask", additive=True, heads=2, kv_heads=2, keys=5),
    dict(plain, name="all at once", softcap=1.5, alibi=True, causal="bottom_right", window=3, key_lengths=[6, 3], boolean=True, additive=True, batch=2,
         heads=4, kv_heads=2, queries=4, keys=6, value_dim=3, scale=1.25),
    dict(plain, name="bf16 operands", element="bf16"),
    dict(plain, name="f16 operands", element="f16"),
    dict(plain, name="layer f32", model_dim=6, heads=2, kv_heads=1, batch=2),
    dict(plain, name="layer bf16, causal", model_dim=8, heads=2, kv_heads=2, queries=4, keys=4, element="bf16", causal="bottom_right"),
    dict(plain, name="layer f16", model_dim=6, heads=2, kv_heads=1, value_dim=3, element="f16"),
]
print('{"source": "reference_data.py, numpy %s, float64", "cases": [' % np.__version__)
print(",\n".join(json.dumps(solve(c)) for c in cases))
print("]}")
