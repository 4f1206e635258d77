"""What a bare install must import without the server's libraries."""

import importlib.util

import groundwire.v1.retrieval_pb2_grpc
import groundwire_client
import groundwire_pipelines

assert all((groundwire.v1.retrieval_pb2_grpc, groundwire_client, groundwire_pipelines))
assert importlib.util.find_spec("numpy") is None, "a bare install brings the server's libraries"
