"""Node tests that ONNX's own lack: masks that hide, causal after a past of another length, lengths, bf16. Written in ONNX's form with
the answers of onnx's reference implementation, then run; and some that must fail, so that a pass means something.
usage: own_cases.py FOLDER [OPTION OF run_cases.py]..."""

import shutil
import subprocess
import sys
from pathlib import Path

try:
    import onnx
except ImportError:
    print("not run: the Python package onnx is not installed here; scripts/setup installs it")
    sys.exit(77)
import ml_dtypes
import numpy as np
from onnx import helper, numpy_helper
from onnx.reference.ops.op_attention import _compute_attention

RANDOM = np.random.default_rng(24)
INPUTS = ("Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen")
OUTPUTS = ("Y", "present_key", "present_value", "qk_matmul_output")


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def random_mask(*shape: int) -> np.ndarray:
    """True at half of the places, and at key 0, so that no row is empty: ONNX has no answer for those."""
    mask = RANDOM.random(shape) < 0.5
    mask[..., 0] = True
    return mask


def passing_cases() -> dict[str, tuple[dict, dict, int, int]]:
    """name: inputs, attributes, opset, how many of the outputs the node has."""
    q, k, v = normal(2, 4, 5, 16), normal(2, 2, 9, 16), normal(2, 2, 9, 16)
    qkv = {"Q": q, "K": k, "V": v}
    past = {"past_key": normal(2, 2, 7, 16), "past_value": normal(2, 2, 7, 16)}
    lengths = {"nonpad_kv_seqlen": np.array([6, 9], np.int64)}
    flat = {name: x.transpose(0, 2, 1, 3).reshape(2, x.shape[2], -1) for name, x in qkv.items()}
    bf16 = {name: x.astype(ml_dtypes.bfloat16) for name, x in {"Q": normal(1, 2, 3, 8), "K": normal(1, 2, 1, 8), "V": normal(1, 2, 1, 8)}.items()}
    return {
        "bf16": (bf16, {}, 23, 1),  # one key: the answer does not hang on where the reference rounds
        "bool_mask": (qkv | {"attn_mask": random_mask(5, 9)}, {}, 23, 1),
        "bool_mask_of_heads": (flat | {"attn_mask": random_mask(4, 5, 9)}, {"q_num_heads": 4, "kv_num_heads": 2}, 23, 1),
        "bool_mask_short": (qkv | {"attn_mask": random_mask(2, 1, 5, 6)}, {}, 24, 1),
        "mask_of_keys": (qkv | {"attn_mask": np.where(random_mask(1, 9), normal(1, 9), -np.inf).astype(np.float32)}, {"softcap": 1.5}, 23, 1),
        "causal_after_past": (qkv | past, {"is_causal": 1, "scale": 0.3}, 23, 3),
        "lengths": (qkv | lengths | {"attn_mask": normal(2, 4, 5, 9)}, {"softcap": 0.0}, 24, 1),
        "weights": (qkv | past | {"attn_mask": random_mask(5, 16)}, {"qk_matmul_output_mode": 3}, 23, 4),
    }


def write_tensors(folder: Path, kind: str, tensors: dict[str, np.ndarray]) -> None:
    for i, (name, x) in enumerate(tensors.items()):
        (folder / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(x, name).SerializeToString())


def write_case(folder: Path, inputs: dict, attributes: dict, opset: int, outputs: int) -> None:
    answers = _compute_attention(**inputs, **attributes)
    results = {name: np.asarray(x) for name, x in zip(OUTPUTS[:outputs], answers)}
    infos = [[helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in tensors.items()] for tensors in (inputs, results)]
    last = max(INPUTS.index(name) for name in inputs)
    node = helper.make_node("Attention", [n if n in inputs else "" for n in INPUTS[: last + 1]], OUTPUTS[:outputs], **attributes)
    model = helper.make_model(helper.make_graph([node], folder.name, *infos), opset_imports=[helper.make_opsetid("", opset)])
    (folder / "test_data_set_0").mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    write_tensors(folder / "test_data_set_0", "input", inputs)
    write_tensors(folder / "test_data_set_0", "output", results)


def write_failing_cases(folder: Path) -> dict[str, str]:
    """Cases that must fail, and a part of the sentence that must say why."""
    inputs, attributes, opset, outputs = passing_cases()["bool_mask"]
    write_case(folder / "wrong_answer", inputs, attributes, opset, outputs)
    answer = folder / "wrong_answer/test_data_set_0/output_0.pb"
    y = numpy_helper.to_array(onnx.load_tensor(answer)).copy()
    y[1, 3, 4, 15] *= 1.002
    write_tensors(answer.parent, "output", {"Y": y})
    doubles = {name: x.astype(np.float64) if x.dtype == np.float32 else x for name, x in inputs.items()}
    write_case(folder / "doubles", doubles, attributes, opset, outputs)
    write_case(folder / "old_opset", inputs, attributes, 22, outputs)
    (folder / "no_model").mkdir()
    return {"wrong_answer": "Not equal to tolerance", "doubles": "float64", "old_opset": "opset 22", "no_model": "holds no model.onnx"}


def main(folder: Path, options: list[str]) -> int:
    shutil.rmtree(folder, ignore_errors=True)
    passing = passing_cases()
    for name, case in passing.items():
        write_case(folder / name, *case)
    failing = write_failing_cases(folder)
    runner = Path(__file__).parent / "run_cases.py"
    cases = [folder / name for name in (*passing, *failing)]
    done = subprocess.run([sys.executable, runner, *cases, *options], capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr, sep="")
    lines = done.stdout.splitlines()
    wrong = [name for name in passing if f"passed  {name}" not in lines]
    wrong += [name for name, why in failing.items() if not any(line.startswith(f"failed  {name}: ") and why in line for line in lines)]
    print(f"not as they should be: {', '.join(wrong)}" if wrong else "all as they should be")
    return 1 if wrong or done.returncode != 1 else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
