"""The web application: pages without content, what fills them for the key of the session, and the files they load."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from groundwire.printable_text import printable
from groundwire_explore.describing import is_web_address, short_name
from groundwire_explore.exact_search import ExactMatches
from groundwire_explore.gathering import GatheredEvidence
from groundwire_explore.guard import Guard, holds_key
from groundwire_explore.pages import FIELDS, Explorer, Page, Settings
from groundwire_explore.problems import FAILURES, Problem, problem
from groundwire_explore.results import Results

__all__ = ["Settings", "make_app"]

_STATIC = Path(__file__).parent / "static"
_PATHS = ("/", "/evidence", "/exact", "/map", "/compare", "/versions", "/node", "/indexes", "/run")


def _visible(value: object) -> object:
    """A value of a template: a text with its control and direction characters as visible signs, wherever it is put."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _exact(value: str) -> Markup:
    """A text that a form sends back as it came, and that is not shown."""
    return escape(value)


_templates = Environment(
    loader=PackageLoader("groundwire_explore"),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=_visible,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.tests["problem"] = lambda value: isinstance(value, Problem)
cast("dict[str, object]", _templates.filters).update(short=short_name, exact=_exact)
_templates.tests["evidence"] = lambda value: isinstance(value, GatheredEvidence)
_templates.tests["exact"] = lambda value: isinstance(value, ExactMatches)
_templates.tests["web_address"] = is_web_address
_templates.tests["results"] = lambda value: isinstance(value, Results)


def make_app(settings: Settings) -> Starlette:
    """The application."""

    @asynccontextmanager
    async def connected(_: Starlette) -> AsyncIterator[dict[str, Explorer]]:
        async with settings.connect() as client:
            yield {"explorer": Explorer(client, settings)}

    async def view(request: Request) -> Response:
        if not (settings.caller_tokens or holds_key(request.headers, settings.key)):
            return _html("locked.html", 401)
        explorer: Explorer = request.state.explorer
        make = explorer.views.get(request.path_params["path"])
        if make is None:
            raise HTTPException(404, "There is no such page.")
        try:
            page, status = await make(request.query_params.multi_items()), 200
        except FAILURES as error:
            page, status = explorer.failed(error), 400 if problem(error).is_request else 502
        # Large pages take a tenth of a second to render, in which the event loop answers others.
        return await asyncio.to_thread(_content, request, explorer, page, status)

    app = Starlette(
        routes=[
            *(Route(path, _shell) for path in _PATHS),
            Route("/view{path:path}", view),
            Mount("/static", StaticFiles(directory=_STATIC)),
        ],
        middleware=[Middleware(Guard, hosts=settings.hosts, needs_token=settings.caller_tokens)],
        lifespan=connected,
    )
    # A redirect would name this server and its plain HTTP, where a proxy is what browsers know.
    app.router.redirect_slashes = False
    return app


async def _shell(_: Request) -> Response:
    return HTMLResponse(_templates.get_template("shell.html").render())


def _content(request: Request, explorer: Explorer, page: Page, status: int) -> Response:
    path: str = request.path_params["path"]
    return _html(
        page.template,
        status,
        page=page,
        path=path,
        kept=[(name, value) for name, value in request.query_params.multi_items() if name in ("q", "also") and value],
        has_run=explorer.settings.trace is not None,
        **FIELDS,
        **page.values,
    )


def _html(template: str, status: int, **values: object) -> Response:
    made = _templates.get_template(template).render(**values)
    return HTMLResponse(made, status_code=status, headers={"Cache-Control": "no-store"})
