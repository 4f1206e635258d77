"""ONNX Runtime, held to computing a graph as it is written, on the calling thread."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import onnxruntime

_ERRORS_ONLY = 3


def open_session(graph: Path | bytes) -> "onnxruntime.InferenceSession":
    """A session over an ONNX file, or its content; `run` is safe to call from several threads.

    Optimisations are off: fusions may swap an operation that treats each row alone for one that does not, and differ
    between versions. Memory patterns are off because no two batches have the same shape.
    """
    # A process that embeds no query, such as a build without vectors, does not load it.
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.enable_mem_pattern = False
    options.log_severity_level = _ERRORS_ONLY
    source = graph if isinstance(graph, bytes) else str(graph)
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def multiplies_exactly(probe: Path) -> bool:
    """True if products of bytes with signed weights are exact here; x86 without VNNI saturates sums of pairs."""
    left = np.full((16, 64), 255, np.uint8)
    (sums,) = open_session(probe).run(["sums"], {"left": left})
    return bool(np.all(np.asarray(sums) == 64 * 255 * 127))
