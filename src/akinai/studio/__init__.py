"""The studio: `akinai.studio(...)` shows runs in a browser, `akinai.studio.bundle(...)` writes its pages as files."""

from typing import TYPE_CHECKING

from akinai.callable_package import make_callable

if TYPE_CHECKING:
    from akinai.studio.files import bundle as bundle

make_callable(__name__)


def __getattr__(name: str) -> object:
    if name != "bundle":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from akinai.studio.files import bundle

    return bundle
