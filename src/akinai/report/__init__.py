"""Reports: data in, text or files out. `akinai.report(...)` writes one, as the command does."""

from akinai.callable_package import make_callable

make_callable(__name__)
