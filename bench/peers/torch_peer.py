"""PyTorch: its own scaled_dot_product_attention, FlexAttention compiled for the shape, and zentorch, AMD's plugin: its attention
operator, and whole layers through its compiler."""

import os

os.environ["TORCHINDUCTOR_FREEZING"] = "1"  # weights are constants to the compiler, as zentorch's manual asks for

import numpy as np
import torch
import zentorch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from protocol import Prepared, serve, to_bf16

torch.set_grad_enabled(False)


def tensor_of(work, values):
    if work.element == "f32":
        return torch.from_numpy(np.ascontiguousarray(values, np.float32))
    return torch.from_numpy(to_bf16(values).view(np.int16)).view(torch.bfloat16)


def attention_by(call):
    """A way that calls `call(work, query, key, value)` -> output [batch, head, query, feature]."""

    def way(work):
        torch.set_num_threads(work.threads)
        query, key, value = (tensor_of(work, work.tensor(n)) for n in ("query", "key", "value"))
        copies = [(key.clone(), value.clone()) for _ in range(work.copies)]
        chosen, output = [copies[0]], [None]

        def choose(copy):
            chosen[0] = copies[copy]

        prepared_call = call(work)

        def run():
            output[0] = prepared_call(query, *chosen[0])

        return Prepared(run, lambda: output[0].float().numpy(), choose, len(copies))

    return way


def sdpa(work):
    grouped = work.heads != work.kv_heads
    return lambda q, k, v: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=work.causal, enable_gqa=grouped)


def zentorch_sdpa(work):
    return lambda q, k, v: torch.ops.zentorch.zentorch_sdpa(q, k, v, is_causal=work.causal)[0]


def flex(work):
    torch._dynamo.reset()
    mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, work.queries, work.keys, device="cpu") if work.causal else None
    compiled = torch.compile(flex_attention, dynamic=False)
    grouped = work.heads != work.kv_heads
    return lambda q, k, v: compiled(q, k, v, block_mask=mask, enable_gqa=grouped)


class Layer(torch.nn.Module):
    def __init__(self, work):
        super().__init__()
        self.work = work
        for name in ("query", "key", "value", "output"):
            matrix, bias = work.weight(name)
            linear = torch.nn.Linear(*matrix.shape)
            linear.weight.copy_(torch.from_numpy(matrix.T.copy()))
            linear.bias.copy_(torch.from_numpy(bias))
            setattr(self, name, linear)

    def forward(self, hidden):
        work = self.work
        q, k, v = (p(hidden).view(work.batch, work.queries, work.heads, work.head_dim).transpose(1, 2) for p in (self.query, self.key, self.value))
        attended = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=work.causal)
        return self.output(attended.transpose(1, 2).reshape(work.batch, work.queries, work.heads * work.head_dim))


def compiled_layer(work):
    torch.set_num_threads(work.threads)
    torch._dynamo.reset()
    hidden = tensor_of(work, work.tensor("hidden"))
    layer = torch.compile(Layer(work).to(hidden.dtype).eval(), backend="zentorch", dynamic=False)
    output = [None]

    def run():
        output[0] = layer(hidden)

    run()
    return Prepared(run, lambda: output[0].float().numpy())


of_attention = {"scaled_dot_product_attention": attention_by(sdpa), "FlexAttention": attention_by(flex), "zentorch_sdpa": attention_by(zentorch_sdpa)}
serve(f"torch {torch.__version__}, zentorch {zentorch.__version__}", {
    "attention": of_attention,
    "decode": of_attention,
    "layer": {"zentorch compiler": compiled_layer},
})
