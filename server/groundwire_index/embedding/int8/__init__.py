"""Queries and texts embedded by an int8 copy of a BERT model, in ONNX Runtime (docs/adr/0013)."""
