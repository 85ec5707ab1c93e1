"""Reads a directory in the form of ONNX's node tests: model.onnx with one Attention node, test_data_set_*/{in,out}put_*.pb."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper


class NotExpressible(Exception):
    """A case that cannot become a spec and a call; the text is a sentence that says why."""


@dataclass
class DataSet:
    """One call: tensors by the names that ONNX gives the operator's inputs and outputs; those that the node leaves out are missing."""

    name: str
    inputs: dict[str, np.ndarray]
    outputs: dict[str, np.ndarray]


@dataclass
class NodeTest:
    name: str
    opset: int
    attributes: dict
    data_sets: list[DataSet]


def has_attention_node(folder: Path) -> bool:
    return any(node.op_type == "Attention" for node in onnx.load(folder / "model.onnx").graph.node)


def read_node_test(folder: Path) -> NodeTest:
    if not (folder / "model.onnx").is_file():
        raise NotExpressible(f"{folder} holds no model.onnx")
    model = onnx.load(folder / "model.onnx")
    node = attention_node(model)
    opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), None)
    if opset not in (23, 24):
        raise NotExpressible(f"the model is of opset {opset}; Attention is read as opsets 23 and 24 define it")
    folders = sorted(folder.glob("test_data_set_*"))
    if not folders:
        raise NotExpressible("the directory holds no test_data_set_*")
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    return NodeTest(folder.name, opset, attributes, [read_data_set(f, model.graph, node) for f in folders])


def attention_node(model: onnx.ModelProto) -> onnx.NodeProto:
    nodes = model.graph.node
    if len(nodes) != 1 or nodes[0].op_type != "Attention" or nodes[0].domain not in ("", "ai.onnx"):
        found = ", ".join(node.op_type for node in nodes)
        raise NotExpressible(f"the model must be one Attention node of ONNX's own domain, and holds: {found}")
    return nodes[0]


def read_data_set(folder: Path, graph: onnx.GraphProto, node: onnx.NodeProto) -> DataSet:
    values = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    fed = [i.name for i in graph.input if i.name not in values]
    values |= {name: read_tensor(folder / f"input_{i}.pb") for i, name in enumerate(fed)}
    results = {o.name: read_tensor(folder / f"output_{i}.pb") for i, o in enumerate(graph.output)}
    schema = onnx.defs.get_schema("Attention", 24)
    return DataSet(
        folder.name,
        {formal.name: values[name] for formal, name in zip(schema.inputs, node.input) if name},
        {formal.name: results[name] for formal, name in zip(schema.outputs, node.output) if name in results},
    )


def read_tensor(path: Path) -> np.ndarray:
    return numpy_helper.to_array(onnx.load_tensor(path))
