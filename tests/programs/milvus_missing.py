"""Asks for the indexes in a Milvus where its client is not installed, after it has printed what is loaded."""

import sys
from importlib import import_module
from unittest.mock import patch

for module in ("groundwire_milvus.catalogue", "groundwire_server.config", "groundwire_milvus.storage"):
    import_module(module)
print(sorted({"pymilvus", "pandas"} & set(sys.modules)))
with patch.dict(sys.modules, {"pymilvus": None}):
    from groundwire_cli.program import main

    sys.argv = ["groundwire", "indexes", "--backend", "milvus", "--milvus-uri", "http://127.0.0.1:1"]
    main()
