"""A BERT as an ONNX graph that runs exactly as it is written: quantised, or in float32 to compare with.

Where it is quantised, each row of inputs, that is each token, has its own scale. Products of integers are exact. All
other operations work on one row, one element, or one text's own attention. So nothing that a text becomes depends on
what else is in its batch (docs/adr/0013). DynamicQuantizeLinear, with its one scale for all rows, would break that.

Inputs are the tokens of all texts in one sequence: `embedded` float32 [tokens, width]. Attention needs a text's tokens
in one row of a table of texts. `places` int64 [texts * length] names the token at each place of that table. `mask`
float32 [texts, length] is 0 where the text has a token and very negative elsewhere. `rows` int64 [tokens] takes the
tokens back out of the table. The output `hidden` is float32 [tokens, width].
"""

import math
from typing import Literal, TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from groundwire_ingest.embedding.bert_model import Bert, Floats, Layer, Linear, Norm
from groundwire_ingest.embedding.quantise import GELU_FLOOR, QuantisedLinear, by_size, by_use, joined, quantise, scaled

OPSET = 21
IR_VERSION = 10
WeightType: TypeAlias = Literal["int8", "uint8", "float32"]
"""How the weights are stored: the same integers, as they are or with 128 added; or as they were."""
_SIGNED_LIMIT, _UNSIGNED_LIMIT, _MIDDLE = 127, 255, 128


class _Graph:
    """A graph under construction; values are referred to by name."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, values: NDArray[np.generic] | np.generic) -> str:
        """The name of a constant."""
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def add(self, operator: str, *inputs: str, **attributes: int | float | list[int]) -> str:
        """Adds a node with one output; returns that output's name."""
        return self.add_all(operator, 1, *inputs, **attributes)[0]

    def add_all(self, operator: str, outputs: int, *inputs: str, **attributes: int | float | list[int]) -> list[str]:
        """Adds a node; returns its outputs' names."""
        names = [f"value{len(self.nodes)}_{position}" for position in range(outputs)]
        node = helper.make_node(operator, inputs, names)
        node.attribute.extend(helper.make_attribute(name, value) for name, value in sorted(attributes.items()))
        self.nodes.append(node)
        return names


class _Encoder:
    """Adds the parts of a model to a graph."""

    def __init__(self, bert: Bert, weight_type: WeightType) -> None:
        self._bert = bert
        self._weight_type = weight_type
        self._graph = graph = _Graph()
        self._columns = graph.constant(np.array([1]))
        self._tokens_of_width = graph.constant(np.array([-1, bert.width]))
        self._least = graph.constant(np.float32(np.finfo(np.float32).tiny))
        self._floor = graph.constant(np.float32(GELU_FLOOR))
        self._signed_step = graph.constant(np.float32(1 / _SIGNED_LIMIT))
        self._unsigned_step = graph.constant(np.float32(1 / _UNSIGNED_LIMIT))
        self._middle = graph.constant(np.uint8(_MIDDLE))
        self._zero = graph.constant(np.uint8(0))
        tokens = graph.add("Shape", "embedded", start=0, end=1)
        self._middles = graph.add("Expand", graph.constant(np.array([_MIDDLE], np.uint8)), tokens)
        self._zeros = graph.add("Expand", graph.constant(np.array([0], np.uint8)), tokens)
        self._mask = graph.add("Unsqueeze", "mask", graph.constant(np.array([1, 2])))
        texts_and_length = graph.add("Shape", "mask")
        heads, head_width = bert.settings.heads, bert.width // bert.settings.heads
        self._heads_of_both = graph.add(
            "Concat", texts_and_length, graph.constant(np.array([2 * heads, head_width])), axis=0
        )
        self._heads = graph.add("Concat", texts_and_length, graph.constant(np.array([heads, head_width])), axis=0)

    def model(self) -> onnx.ModelProto:
        """The whole graph, checked."""
        hidden, before = self._norm("embedded", self._bert.norm), self._bert.norm
        for layer in self._bert.layers:
            hidden, before = self._layer(hidden, before, layer), layer.output_norm
        self._graph.nodes.append(helper.make_node("Identity", [hidden], ["hidden"]))
        inputs = [
            helper.make_tensor_value_info("embedded", TensorProto.FLOAT, ["tokens", self._bert.width]),
            helper.make_tensor_value_info("places", TensorProto.INT64, ["places"]),
            helper.make_tensor_value_info("mask", TensorProto.FLOAT, ["texts", "length"]),
            helper.make_tensor_value_info("rows", TensorProto.INT64, ["tokens"]),
        ]
        output = helper.make_tensor_value_info("hidden", TensorProto.FLOAT, ["tokens", self._bert.width])
        return _model(self._graph, inputs, output)

    def _layer(self, hidden: str, norm: Norm, layer: Layer) -> str:
        """`norm` is the normalisation that `hidden` has just been through."""
        attended = self._linear(layer.attention_output, self._attention(hidden, layer))
        hidden = self._norm(self._graph.add("Add", attended, hidden), layer.attention_norm)
        wide = self._linear(layer.intermediate, hidden, by_size(layer.attention_norm))
        narrow = self._linear_after_gelu(layer.output, self._graph.add("Gelu", wide))
        return self._norm(self._graph.add("Add", narrow, hidden), layer.output_norm)

    def _attention(self, hidden: str, layer: Layer) -> str:
        add = self._graph.add
        # Keys and values read different channels: quantised together, the one would cost the other its precision.
        query = scaled(layer.query, 1 / math.sqrt(self._bert.width // self._bert.settings.heads))
        use_of_both = by_use(joined([layer.query, layer.key]))
        both = self._linear(joined([query, layer.key]), hidden, use_of_both)
        value = self._linear(layer.value, hidden, by_use(layer.value))
        both = add("Reshape", add("Gather", both, "places", axis=0), self._heads_of_both)
        both = add("Transpose", both, perm=[0, 2, 1, 3])
        queries, keys = self._graph.add_all("Split", 2, both, axis=1, num_outputs=2)
        values = add("Reshape", add("Gather", value, "places", axis=0), self._heads)
        scores = add("MatMul", queries, add("Transpose", keys, perm=[0, 1, 3, 2]))
        weights = add("Softmax", add("Add", scores, self._mask), axis=-1)
        mixed = add("Transpose", add("MatMul", weights, add("Transpose", values, perm=[0, 2, 1, 3])), perm=[0, 2, 1, 3])
        return add("Gather", add("Reshape", mixed, self._tokens_of_width), "rows", axis=0)

    def _norm(self, values: str, norm: Norm) -> str:
        scale, shift = self._graph.constant(norm.scale), self._graph.constant(norm.shift)
        return self._graph.add("LayerNormalization", values, scale, shift, axis=-1, epsilon=self._bert.settings.epsilon)

    def _linear(self, linear: Linear, values: str, factors: Floats | None = None) -> str:
        """A linear layer, whose rows are quantised to 128 plus -127..127 times their scale.

        The scale of a row is its largest magnitude over 127. `factors` [inputs] balance the channels before.
        """
        add = self._graph.add
        if self._weight_type == "float32":
            return self._unquantised(linear, values)
        if factors is not None:
            values = add("Mul", values, self._graph.constant(factors))
        largest = add("ReduceMax", add("Abs", values), self._columns, keepdims=0)
        scales = add("Max", add("Mul", largest, self._signed_step), self._least)
        integers = add("QuantizeLinear", values, scales, self._middles, axis=0)
        return self._products(quantise(linear, factors), integers, self._middle, scales)

    def _linear_after_gelu(self, linear: Linear, values: str) -> str:
        """Rows are moved above zero and quantised to 0..255 times their scale, their largest value over 255."""
        add = self._graph.add
        if self._weight_type == "float32":
            return self._unquantised(linear, values)
        values = add("Add", values, self._floor)
        scales = add("Mul", add("ReduceMax", values, self._columns, keepdims=0), self._unsigned_step)
        integers = add("QuantizeLinear", values, scales, self._zeros, axis=0)
        return self._products(quantise(linear, input_shift=GELU_FLOOR), integers, self._zero, scales)

    def _unquantised(self, linear: Linear, values: str) -> str:
        products = self._graph.add("MatMul", values, self._graph.constant(np.ascontiguousarray(linear.weight.T)))
        return self._graph.add("Add", products, self._graph.constant(linear.bias))

    def _products(self, linear: QuantisedLinear, integers: str, zero_point: str, row_scales: str) -> str:
        add, constant = self._graph.add, self._graph.constant
        if self._weight_type == "int8":
            sums = add("MatMulInteger", integers, constant(linear.integers), zero_point)
        else:
            raised = (linear.integers.astype(np.int16) + _MIDDLE).astype(np.uint8)
            sums = add("MatMulInteger", integers, constant(raised), zero_point, self._middle)
        outputs = add("DequantizeLinear", sums, row_scales, axis=0)
        return add("Add", add("Mul", outputs, constant(linear.scales)), constant(linear.bias))


def encoder_model(bert: Bert, weight_type: WeightType) -> bytes:
    """The model as an ONNX file; both types of integer weights compute the same."""
    return bytes(_Encoder(bert, weight_type).model().SerializeToString(deterministic=True))


def exactness_probe() -> bytes:
    """An ONNX file that multiplies `left` uint8 [rows, 64] with int8 weights of 127, [64, 32], to `sums` int32.

    Where the processor adds pairs of products in 16 bits, the largest inputs overflow.
    """
    graph = _Graph()
    weights = graph.constant(np.full((64, 32), _SIGNED_LIMIT, np.int8))
    graph.nodes.append(helper.make_node("MatMulInteger", ["left", weights], ["sums"]))
    left = helper.make_tensor_value_info("left", TensorProto.UINT8, ["rows", 64])
    model = _model(graph, [left], helper.make_tensor_value_info("sums", TensorProto.INT32, ["rows", 32]))
    return bytes(model.SerializeToString(deterministic=True))


def _model(graph: _Graph, inputs: list[onnx.ValueInfoProto], output: onnx.ValueInfoProto) -> onnx.ModelProto:
    whole = helper.make_graph(graph.nodes, "encoder", inputs, [output], graph.constants)
    model = helper.make_model(whole, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    model.producer_name = "groundwire"
    onnx.checker.check_model(model)
    return model
