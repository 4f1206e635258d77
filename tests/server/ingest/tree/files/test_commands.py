"""The files that scripts, Dockerfiles, Compose files and entry points name, as edges of a tree."""

from collections.abc import Callable, Mapping
from pathlib import Path

from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.files.commands import command_references
from groundwire_ingest.tree.source import TreeSource

TreeMaker = Callable[[Mapping[str, str | bytes]], Path]

TREE = {
    "docker-compose.yml": (
        "services:\n"
        "  web:\n"
        "    build: .\n"
        "    command: uwsgi uwsgi.ini\n"
        "  worker:\n"
        "    image: shop.py:latest\n"
        "    build:\n"
        "      context: ./app\n"
        "      dockerfile: Worker.Dockerfile\n"
        "    volumes: ['./conf/nginx.conf:/etc/nginx/nginx.conf']\n"
        "  cache:\n"
        "    build: https://example.com/cache.git\n"
    ),
    "Dockerfile": 'FROM shop.py\n# COPY absent.sh manage.py\nCOPY bootstrap.sh /code/\nCMD ["./bootstrap.sh"]\n',
    "app/Worker.Dockerfile": 'FROM python:3.11\nENTRYPOINT ["python", "-m", "app.worker"]\nRUN python -m app.jobs\n',
    "bootstrap.sh": "cat <<END\nmanage.py\nEND\npython manage.py migrate\nexec uwsgi --ini uwsgi.ini\n. ./env.sh\n",
    "env.sh": "export A=1\n",
    "uwsgi.ini": "[uwsgi]\nmodule = app.wsgi:application\n",
    "pyproject.toml": '[project.scripts]\nshop = "app.jobs.__main__:main"\n',
    "Makefile": "run: bootstrap.sh\n\tgunicorn app.wsgi:application -c conf/gunicorn.conf.py\n",
    ".github/workflows/smoke.yml": (
        "jobs:\n  smoke:\n    steps:\n    - run: sh bootstrap.sh\n    - run: |\n        cd app\n"
        "        python manage.py close_shop\n    - name: manage.py\n"
    ),
    "app/management/commands/close_shop.py": "class Command:\n    pass\n",
    "conf/nginx.conf": "server { listen 80; }\n",
    "conf/gunicorn.conf.py": "workers = 2\n",
    "app/wsgi.py": "def application(environ, start):\n    return []\n",
    "app/worker.py": "import time\n\ntime.sleep(1)\n",
    "app/jobs/__main__.py": "def main():\n    return 1\n",
    "manage.py": "import sys\n\nprint(sys.argv)\n",
    "shop.py": "x = 1\n",
}
EXPECTED = {
    ("yaml::docker-compose.yml#web", "dockerfile::Dockerfile", 3),
    ("yaml::docker-compose.yml#web", "ini::uwsgi.ini", 4),
    ("yaml::docker-compose.yml#worker", "dockerfile::app/Worker.Dockerfile", 8),
    ("yaml::docker-compose.yml#worker", "text::conf/nginx.conf", 10),
    ("dockerfile::Dockerfile", "sh::bootstrap.sh", 3),
    ("dockerfile::app/Worker.Dockerfile", "py::app/jobs/__main__.py", 3),
    ("sh::bootstrap.sh", "py::manage.py", 4),
    ("sh::bootstrap.sh", "ini::uwsgi.ini", 5),
    ("ini::uwsgi.ini", "py::app/wsgi.py", 2),
    ("toml::pyproject.toml", "py::app/jobs/__main__.py", 2),
    ("yaml::.github/workflows/smoke.yml", "sh::bootstrap.sh", 4),
    ("yaml::.github/workflows/smoke.yml", "py::manage.py", 7),
    ("yaml::.github/workflows/smoke.yml", "py::app/management/commands/close_shop.py#Command", 7),
    ("make::Makefile", "py::app/wsgi.py", 2),
    ("make::Makefile", "py::conf/gunicorn.conf.py", 2),
}


def test_commands_lead_to_the_files_that_they_name(make_tree: TreeMaker) -> None:
    edges = [item for item in TreeSource(make_tree(TREE)).read() if isinstance(item, SourceEdge)]
    references = {(edge.from_key, edge.to_key, edge.line) for edge in edges if edge.edge_type == "References"}
    assert references == EXPECTED
    assert ("sh::bootstrap.sh", "sh::env.sh") in {
        (edge.from_key, edge.to_key) for edge in edges if edge.edge_type == "Imports"
    }


def test_urls_data_and_comments_name_nothing() -> None:
    lines = [
        "curl https://example.com/install.sh",
        "# sh install.sh",
        "x" * 3_000 + " install.sh",
        "image: registry:5000/shop:1.2.3",
        "v1.2.3",
    ]
    assert not list(command_references("a.sh", enumerate(lines, start=1)))
