"""Renders manifests and settings from the Helm chart, which is the one source: `python deploy/render.py`.

The manifests in `deploy/kubernetes` are for kustomize, which every `kubectl` has, and the settings in `deploy/compose`
for the servers behind Envoy there. All are committed; a test compares them with the chart. Envoy's ConfigMaps are left
out: `deploy/envoy` makes them of its files. Needs `helm` in the folder of the Python that runs this.
"""

import re
import subprocess
import sys
from pathlib import Path

import yaml

DEPLOY = Path(__file__).resolve().parent
ENVOY, MILVUS = ("--values", "with-envoy.yaml"), ("--values", "on-milvus.yaml")
INDEXING = ("--set", "indexing.enabled=true", "--show-only", "templates/indexing.yaml")
FOLDERS: dict[str, tuple[str, ...]] = {
    "base": (),
    "with-envoy": ENVOY,
    "with-envoy-on-milvus": ENVOY + MILVUS,
    "indexing": INDEXING,
    "indexing-on-milvus": INDEXING + MILVUS,
}
_OF_HELM = re.compile(r"^ +(?:app\.kubernetes\.io/managed-by|helm\.sh/chart): .*\n", re.MULTILINE)
_LEFT_OUT = "# Source: groundwire/templates/envoy-configuration.yaml\n"


def rendered(folder: str) -> str:
    """The manifests of a folder."""
    helm = str(Path(sys.executable).with_name("helm"))
    command = [helm, "template", "groundwire", "groundwire", "--namespace", "groundwire", *FOLDERS[folder]]
    made = subprocess.run(command, cwd=DEPLOY / "helm", capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise RuntimeError(made.stderr)
    kept = (part for part in made.stdout.split("---\n") if part and not part.startswith(_LEFT_OUT))
    return "# Rendered from deploy/helm/groundwire by deploy/render.py.\n---\n" + _OF_HELM.sub("", "---\n".join(kept))


def files() -> dict[Path, str]:
    """All files that are rendered, with their contents. Raises RuntimeError when helm refuses the chart."""
    made = {DEPLOY / "kubernetes" / folder / "manifests.yaml": rendered(folder) for folder in FOLDERS}
    behind_envoy = yaml.safe_load_all(made[DEPLOY / "kubernetes" / "with-envoy" / "manifests.yaml"])
    (settings,) = (each["data"]["groundwire.yaml"] for each in behind_envoy if each and each["kind"] == "ConfigMap")
    return made | {DEPLOY / "compose" / "groundwire.yaml": f"# Rendered by deploy/render.py.\n{settings}"}


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
