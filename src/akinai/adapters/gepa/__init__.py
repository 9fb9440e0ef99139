"""The package `gepa` (arXiv 2507.19457) as a contender of the learner: it evolves the instructions of a prompt."""

from akinai.core.errors import MissingExtra

try:
    from akinai.adapters.gepa.optimizing import RIVAL
except ImportError as error:
    raise MissingExtra("GEPA as a contender", "gepa", "gepa") from error

__all__ = ["RIVAL"]
