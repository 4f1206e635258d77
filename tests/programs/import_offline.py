"""Imports what frameworks use of the client where nothing may ask the network."""

import sys
from importlib import import_module


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        raise SystemExit(f"{event}: {arguments}")


sys.addaudithook(refuse)
for module in ("groundwire_client.langchain", "groundwire_client.llama_index"):
    import_module(module)
