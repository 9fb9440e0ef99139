"""The learner: a playbook that is taught by deltas, kept with its history, searched, refined and put into contexts.

`playbook`, `deltas`, `patches`, `formats`, `ace_text`, `replies`, `injection` and `refine` are pure: times come as
arguments. `playbook_file` and `saved_index` are the parts that touch files.
"""

from akinai.learning.ace_text import dumps_ace, loads_ace
from akinai.learning.deltas import BulletTag, Delta, Operation, Refusal, Tagging, apply_delta
from akinai.learning.embedders import LangChainVectors
from akinai.learning.errors import CorruptPlaybook, EmbedderError, MissingExtra, NewerPlaybook, PlaybookError
from akinai.learning.index import PlaybookIndex, SearchQuery, SearchResult
from akinai.learning.injection import Injection, estimate_tokens, inject, inject_all
from akinai.learning.journal import Change
from akinai.learning.patches import Difference, difference
from akinai.learning.playbook import Bullet, Playbook, Section
from akinai.learning.playbook_file import Edit, PlaybookFile, Saved
from akinai.learning.portable import export_playbook, import_playbook
from akinai.learning.refine import Refinement, dedup, prune
from akinai.learning.replies import UnreadableReply, object_in, read_operations, read_tags
from akinai.learning.roles import Roles
from akinai.learning.saved_index import open_index
from akinai.learning.sections import sections_for
from akinai.learning.sudachi import SudachiWords
from akinai.learning.svd import TfidfSvd
from akinai.learning.tasks import DataSet, Task

__all__ = [
    "Bullet", "BulletTag", "Change", "CorruptPlaybook", "DataSet", "Delta", "Difference", "Edit", "EmbedderError",
    "Injection", "LangChainVectors", "MissingExtra", "NewerPlaybook", "Operation", "Playbook", "PlaybookError",
    "PlaybookFile", "PlaybookIndex", "Refinement", "Refusal", "Roles", "Saved", "SearchQuery", "SearchResult",
    "Section", "SudachiWords", "Tagging", "Task", "TfidfSvd", "UnreadableReply", "apply_delta", "dedup", "difference",
    "dumps_ace", "estimate_tokens", "export_playbook", "import_playbook", "inject", "inject_all", "loads_ace",
    "object_in", "open_index", "prune", "read_operations", "read_tags", "sections_for",
]  # fmt: skip
