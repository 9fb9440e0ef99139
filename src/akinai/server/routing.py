"""Handlers of routes that return a `Reply`, as FastAPI takes them."""

from collections.abc import Awaitable, Callable
from functools import wraps
from inspect import signature
from typing import ParamSpec

from fastapi import Request, Response

from akinai.server.authentication import Credentials
from akinai.server.execute import Reply

P = ParamSpec("P")


def responds(
    refuse: Callable[[Awaitable[Reply]], Awaitable[Reply]],
) -> Callable[[Callable[P, Awaitable[Reply]]], Callable[P, Awaitable[Response]]]:
    """A decorator of handlers; `refuse` awaits the reply and makes refusals of the errors that a client may see."""

    def decorate(handler: Callable[P, Awaitable[Reply]]) -> Callable[P, Awaitable[Response]]:
        @wraps(handler)
        async def route(*args: P.args, **kwargs: P.kwargs) -> Response:
            return response_of(await refuse(handler(*args, **kwargs)))

        # FastAPI reads the parameters from the handler, and would make a model of what it returns.
        route.__dict__["__signature__"] = signature(handler).replace(return_annotation=Response)
        return route

    return decorate


def response_of(reply: Reply) -> Response:
    """The reply as FastAPI sends it."""
    return Response(reply.body, reply.status, reply.headers, "application/json")


def credentials_of(request: Request) -> Credentials:
    """The agent id and the token that a request carries."""
    return Credentials.of(request.scope["headers"])
