"""Writes the chart's schema of the servers' settings: `python deploy/chart_schema.py [FILE]`.

`values.schema.json` is written by hand except for `$defs.settings`, which follows from the server's `Settings`. `helm
install` then refuses a misspelt setting or one out of its bounds, before a pod reads it. It is committed; a test
compares it with the settings.
"""

import json
import sys
from pathlib import Path
from typing import Any

from groundwire_server.config import Settings

SCHEMA = Path(__file__).resolve().parent / "helm" / "groundwire" / "values.schema.json"
DECIDED_BY_THE_CHART = {
    *("data", "listen", "health_listen", "metrics_listen"),
    *("tls_certificate", "tls_key", "tls_client_ca", "backend"),
}
# Builds need them as well, and read no settings of the servers.
FOR_SERVERS_AND_BUILDS = "milvus_"
NEEDED_BY_THE_CHART = ("access_mode", "drain_pause_seconds", "drain_grace_seconds")


def settings_schema() -> dict[str, Any]:
    """The JSON schema of `settings`. Leaves out what the chart decides, and secrets, which no ConfigMap should hold."""
    properties = {
        name: {key: value for key, value in schema.items() if key not in {"title", "default"}}
        for name, schema in Settings.model_json_schema()["properties"].items()
        if name not in DECIDED_BY_THE_CHART
        and not name.startswith(FOR_SERVERS_AND_BUILDS)
        and not schema.get("writeOnly")
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(NEEDED_BY_THE_CHART),
        "properties": properties,
    }


def write_schema(output: Path) -> None:
    """Writes the committed schema to `output`, with the settings as they are now."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    schema["$defs"]["settings"] = settings_schema()
    output.write_text(json.dumps(schema, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_schema(Path(sys.argv[1]) if len(sys.argv) > 1 else SCHEMA)
