"""The pages for browsers: one says what this server is, one describes its routes."""

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from starlette.responses import HTMLResponse

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem; color: #222 }}
code, pre {{ font: 14px/1.4 ui-monospace, monospace; background: #f4f4f4; border-radius: 4px }}
code {{ padding: 1px 4px }} pre {{ padding: .7rem; overflow: auto }} summary {{ cursor: pointer }}
@media (prefers-color-scheme: dark) {{ body {{ background: #181818; color: #ddd }} code, pre {{ background: #2a2a2a }}
a {{ color: #8bf }} }}
</style></head><body>
<h1>{title}</h1>
{body}
</body></html>
"""
_POLICY = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"}


def start_page(run_id: str, *, tokens: bool) -> HTMLResponse:
    """The start page of a market, with links that hold under a proxy's path too."""
    names = (
        "A registration is answered with a token, which every later request of that agent sends."
        if tokens
        else "Agents say who they are in the header <code>X-Agent-Id</code>."
    )
    body = f"""<p>This is an Akinai market, run <code>{escape(run_id)}</code>: agents register here, search for
businesses, send messages, make proposals and pay. It is a wire for programs; there is nothing to click. {names}</p>
<ul><li><a href="docs">/docs</a> describes every route</li>
<li><a href="openapi.json">/openapi.json</a> says the same for programs</li>
<li><a href="actions/protocol">/actions/protocol</a> lists the actions of agents</li></ul>"""
    return _page("Akinai market", body)


def sessions_page(*, tokens: bool) -> HTMLResponse:
    """The start page of a server of sessions, with links."""
    names = "Each session and each of its seats has a token." if tokens else "No token is needed."
    body = f"""<p>Programs play here: <code>POST /sessions</code> opens a run, and requests act in it. It is a wire for
programs; there is nothing to click. {names}</p>
<ul><li><a href="docs">/docs</a> describes every route</li>
<li><a href="openapi.json">/openapi.json</a> says the same for programs</li></ul>"""
    return _page("Akinai sessions", body)


def docs_page(document: Mapping[str, Any]) -> HTMLResponse:
    """An OpenAPI document as a page without scripts."""
    routes = "\n".join(
        _route(path, verb, route) for path, verbs in document["paths"].items() for verb, route in verbs.items()
    )
    return _page("Routes of this server", f'<p><a href="./">What this is</a></p>\n{routes}')


def _route(path: str, verb: str, route: Mapping[str, Any]) -> str:
    parts = [f"<h2><code>{verb.upper()} {escape(path)}</code></h2><p>{escape(route.get('description', ''))}</p>"]
    if parameters := route.get("parameters"):
        names = ", ".join(f"<code>{escape(parameter['name'])}</code>" for parameter in parameters)
        parts.append(f"<p>Parameters: {names}</p>")
    if body := route.get("requestBody"):
        parts += _schemas("Body", body)
    for status, answer in sorted(route["responses"].items()):
        parts += _schemas(f"{status}: {answer['description']}", answer)
    return "\n".join(parts)


def _schemas(title: str, holder: Mapping[str, Any]) -> Iterator[str]:
    for kind, content in holder.get("content", {}).items():
        schema = escape(json.dumps(content.get("schema", {}), indent=1, ensure_ascii=False))
        yield f"<details><summary>{escape(title)} ({escape(kind)})</summary><pre>{schema}</pre></details>"


def _page(title: str, body: str) -> HTMLResponse:
    return HTMLResponse(_PAGE.format(title=title, body=body), headers=_POLICY)
