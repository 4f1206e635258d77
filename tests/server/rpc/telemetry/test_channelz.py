"""gRPC's own account of its connections, at a port of its own and nowhere else."""

from typing import TYPE_CHECKING, Any

import grpc
import pytest
from grpc_channelz.v1 import channelz_pb2, channelz_pb2_grpc

from groundwire.v1 import retrieval_pb2, retrieval_pb2_grpc

if TYPE_CHECKING:
    from server.rpc.conftest import Serving

pytestmark = pytest.mark.asyncio
STUB: Any = channelz_pb2_grpc.ChannelzStub  # its types know the blocking channel alone


async def test_the_calls_of_the_main_port_are_told_at_that_of_channelz(
    serving: "Serving", search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    async with (
        serving(channelz_listen="127.0.0.1:0") as server,
        grpc.aio.insecure_channel(server.address) as channel,
        grpc.aio.insecure_channel(server.telemetry.channelz_address) as operators,
    ):
        for _ in range(3):
            await retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(search_request)
        stub = STUB(operators)
        answer = await stub.GetServers(channelz_pb2.GetServersRequest())
        counted = [(entry.data.calls_started, entry.data.calls_succeeded) for entry in answer.server]
        assert (3, 3) in counted


async def test_callers_cannot_ask_for_it(serving: "Serving") -> None:
    async with serving(channelz_listen="127.0.0.1:0") as server, grpc.aio.insecure_channel(server.address) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await STUB(channel).GetServers(channelz_pb2.GetServersRequest())
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_without_the_setting_it_is_nowhere(serving: "Serving") -> None:
    async with serving() as server:
        assert server.telemetry.channelz_address == ""
