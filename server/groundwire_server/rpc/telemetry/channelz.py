"""channelz: gRPC's own data on its servers, connections and calls, at a port for operators."""

import grpc.aio
from grpc_channelz.v1 import channelz

from groundwire_server.config import Settings
from groundwire_server.rpc.serving.transport import bind, server_options


class ChannelzServer:
    """Answers `grpc.channelz.v1.Channelz`, in the clear. Make, start and stop it in one event loop.

    It tells the addresses of callers and how often they call, so it has a port of its own, where they are not.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._server = grpc.aio.server(options=server_options(settings))
        channelz.add_channelz_servicer(self._server)
        self.address = ""

    async def start(self) -> None:
        """Listens. Raises SettingsError when the address cannot be had."""
        shared = self._settings.workers > 1
        self.address = bind(self._server, "channelz_listen", self._settings.channelz_listen, None, shared=shared)
        await self._server.start()

    async def stop(self) -> None:
        """Ends at once."""
        await self._server.stop(None)
