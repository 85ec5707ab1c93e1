"""Builds one shared library that holds the kernels of many specs, as a user's project does, and calls them through the C ABI."""

import ctypes
import json
import shutil
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np

CMAKE_LISTS = """cmake_minimum_required(VERSION 3.28)
project(onnx_attention LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(attune REQUIRED)
attune_add_library(attention_kernels HEADERS specs.hpp SPECS {specs} TARGETS {target})
add_library(onnx_attention SHARED empty.cpp)
target_link_libraries(onnx_attention PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,attention_kernels,attune_runtime>)
"""
NAMESPACE = "onnx_cases"
SPECS_HEADER = """#pragma once
#include "dsl/spec.hpp"

namespace {namespace} {{
using namespace attune;

{structs}
}} // namespace {namespace}
"""


class BuildFailed(Exception):
    """Kernels that could not be made; the text ends with what the tool said."""


def run(*command) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildFailed(f"{' '.join(map(str, command))}\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout


def best_target(attune_build: Path) -> str:
    """The best CPU target that this machine can run; the tool lists targets with the best of a machine last."""
    targets = json.loads(run(attune_build / "bin/attune", "targets", "--json"))
    return [t["name"] for t in targets if t["runs_here"] and t["name"] != "opencl" and not t["name"].startswith("cuda")][-1]


def write_if_changed(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)


def build(specs: dict[str, str], target: str, attune_build: Path, work: Path) -> "Kernels":
    """The kernels of specs, struct name -> chain. What stands in `work` from an earlier run is used again where it is the same."""
    work.mkdir(parents=True, exist_ok=True)
    structs = "".join(f"struct {name} {{ static constexpr auto spec = {chain}; }};\n" for name, chain in sorted(specs.items()))
    write_if_changed(work / "specs.hpp", SPECS_HEADER.format(namespace=NAMESPACE, structs=structs))
    write_if_changed(work / "empty.cpp", "// all that is in this library comes from the static ones\n")
    names = " ".join(f"{NAMESPACE}::{name}" for name in sorted(specs))
    write_if_changed(work / "CMakeLists.txt", CMAKE_LISTS.format(specs=names, target=target))
    cmake = shutil.which("cmake", path=Path(attune_tool(attune_build, "CMAKE_COMMAND")).parent)
    run(cmake, "-S", work, "-B", work / "build", "-G", "Ninja", f"-Dattune_DIR={attune_build}",
        f"-DCMAKE_MAKE_PROGRAM={attune_tool(attune_build, 'CMAKE_MAKE_PROGRAM')}")
    run(cmake, "--build", work / "build", "--target", "onnx_attention")
    return Kernels(work / "build/libonnx_attention.so", target)


def attune_tool(attune_build: Path, name: str) -> str:
    """A program that Attune was built with, as its CMake cache names it."""
    for line in (attune_build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return line.split("=", 1)[1]
    raise BuildFailed(f"{attune_build / 'CMakeCache.txt'} does not name {name}; is {attune_build} a build folder of Attune?")


# ---- the C ABI (runtime/c_abi.h)


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32), ("dtype", DataType),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class NamedTensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("tensor", ctypes.POINTER(DLTensor)), ("weights", ctypes.c_void_p)]


class NamedNumber(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_double)]


DLPACK_CODES = {np.dtype(np.int32): 0, np.dtype(np.float32): 2, np.dtype(np.float16): 2, np.dtype(ml_dtypes.bfloat16): 4, np.dtype(bool): 6}
HOST = 1


def dl_tensor(a: np.ndarray) -> DLTensor:
    """A view of the array's memory, which must outlive it."""
    extents = (ctypes.c_int64 * a.ndim)(*a.shape)
    strides = (ctypes.c_int64 * a.ndim)(*(s // a.itemsize for s in a.strides))
    return DLTensor(a.ctypes.data, Device(HOST, 0), a.ndim, DataType(DLPACK_CODES[a.dtype], 8 * a.itemsize, 1), extents, strides, 0)


class Kernels:
    def __init__(self, library: Path, target: str):
        self._library = ctypes.CDLL(str(library))
        message = ctypes.create_string_buffer(1000)
        if self._library.attune_set_default_target(target.encode(), message, ctypes.c_size_t(len(message))):
            raise ValueError(message.value.decode())

    def call(self, struct: str, tensors: dict[str, np.ndarray], numbers: dict[str, float]) -> str:
        """Runs the kernel on the arrays. Returns why it did not run; empty if it did."""
        values = (NamedNumber * len(numbers))(*(NamedNumber(name.encode(), v) for name, v in numbers.items()))
        return self._run(self._library.attune_call, struct, tensors, values, ctypes.c_size_t(len(values)), None)

    def append(self, struct: str, tensors: dict[str, np.ndarray]) -> str:
        """Writes new keys and values behind those that a cache holds. Returns why it did not; empty if it did."""
        return self._run(self._library.attune_append, struct, tensors)

    def _run(self, function, struct: str, tensors: dict[str, np.ndarray], *more) -> str:
        views = {name: dl_tensor(a) for name, a in tensors.items()}
        named = (NamedTensor * len(views))(*(NamedTensor(name.encode(), ctypes.pointer(t), None) for name, t in views.items()))
        message = ctypes.create_string_buffer(1000)
        code = function(f"{NAMESPACE}::{struct}".encode(), named, ctypes.c_size_t(len(named)), *more, message, ctypes.c_size_t(len(message)))
        return message.value.decode() if code != 0 else ""
