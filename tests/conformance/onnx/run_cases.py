"""ONNX's node tests of Attention on kernels of Attune: reads them, writes specs, builds, calls, compares. One line for each case."""

import argparse
import sys
from pathlib import Path

import numpy as np

try:
    import onnx
except ImportError:
    print("not run: the Python package onnx is not installed here; scripts/setup installs it")
    sys.exit(77)

from kernels import BuildFailed, best_target, build
from node_test import NotExpressible, has_attention_node, read_node_test
from translate import Call, translate

ROOT = Path(__file__).resolve().parents[3]
WHEEL_CASES = 64  # of Attention in onnx 1.22.0; those named *_expanded have the operator's parts as nodes instead
RTOL, ATOL = 1e-3, 1e-7  # of onnx.backend.test.loader.load_model_tests, for every element type


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dir", nargs="*", type=Path, help="node tests; without any, all those of Attention in the installed onnx")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="Attune's build folder (default: build/release)")
    parser.add_argument("--work", type=Path, help="folder for specs and kernels, used again by later runs (default: <build>/onnx_attention)")
    parser.add_argument("--target", help="a target of Attune (default: the best CPU target of this machine)")
    return parser.parse_args()


def cases_of_wheel() -> list[Path]:
    folders = sorted((Path(onnx.__file__).parent / "backend/test/data/node").glob("test_attention_*"))
    cases = [f for f in folders if has_attention_node(f)]
    if len(cases) != WHEEL_CASES:
        sys.exit(f"onnx {onnx.__version__} holds {len(cases)} cases of Attention, not the {WHEEL_CASES} of onnx 1.22.0; scripts/setup installs that")
    return cases


def calls_of(folder: Path) -> list[tuple[Call, dict]]:
    """The calls of a case, each with the outputs that ONNX expects of it."""
    case = read_node_test(folder)
    return [(translate(case, data), data.outputs) for data in case.data_sets]


def difference(expected: dict, actual: dict) -> str:
    for name, wanted in expected.items():
        got = actual[name]
        if name == "qk_matmul_output": # f32 in Attune, whatever the elements
            got = got.astype(wanted.dtype)
        if got.shape != wanted.shape or got.dtype != wanted.dtype:
            return f"{name} is {got.dtype} {got.shape}, expected {wanted.dtype} {wanted.shape}"
        try:
            np.testing.assert_allclose(got, wanted, rtol=RTOL, atol=ATOL)
        except AssertionError as e:
            return f"{name}: {' '.join(str(e).split())[:300]}"
    return ""


def failure_of(kernels, calls: list[tuple[Call, dict]]) -> str:
    for call, expected in calls:
        refusal = (call.appended and kernels.append(call.struct, call.appended)) or kernels.call(call.struct, call.tensors, call.numbers)
        if problem := refusal or difference(expected, call.results):
            return problem
    return ""


def main() -> int:
    given = arguments()
    folders = given.dir or cases_of_wheel()
    calls, failures = {}, {}
    for folder in folders:
        try:
            calls[folder] = calls_of(folder)
        except NotExpressible as why:
            failures[folder] = str(why)
    specs = {call.struct: call.spec for case in calls.values() for call, _ in case}
    target = given.target or best_target(given.build)
    print(f"{len(folders)} cases, {len(specs)} specs, target {target}", flush=True)
    kernels = build(specs, target, given.build.resolve(), (given.work or given.build / "onnx_attention").resolve()) if specs else None
    for folder, case in calls.items():
        if problem := failure_of(kernels, case):
            failures[folder] = problem
    for folder in folders:
        print(f"failed  {folder.name}: {failures[folder]}" if folder in failures else f"passed  {folder.name}")
    print(f"{len(folders) - len(failures)} of {len(folders)} cases passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BuildFailed as why:
        sys.exit(f"onnx/run: the kernels could not be built: {why}")
