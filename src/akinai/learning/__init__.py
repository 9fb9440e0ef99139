"""The learner: a playbook that deltas change, that is kept with its history, searched, refined and put into contexts.

All modules but `playbook.file`, `playbook.journal`, `playbook.atomic`, `search.saved_index` and `loop.graph` are pure:
texts and times come as arguments.
"""

from akinai.core.errors import MissingExtra
from akinai.core.models import estimate_tokens
from akinai.core.replies.objects import UnreadableReply, object_in
from akinai.learning.data_sets import DataSet
from akinai.learning.playbook.bullets import Bullet, Playbook, Section
from akinai.learning.playbook.deltas import BulletTag, Delta, Edit, Operation, Refusal, Tagging, apply_delta
from akinai.learning.playbook.errors import CorruptPlaybook, EmbedderError, NewerPlaybook, PlaybookError
from akinai.learning.playbook.file import PlaybookFile, Saved
from akinai.learning.playbook.formats import export_playbook, import_playbook
from akinai.learning.playbook.journal import Change
from akinai.learning.playbook.patches import Difference, difference
from akinai.learning.playbook.sections import sections_for
from akinai.learning.playbook.texts import dumps_ace, loads_ace
from akinai.learning.roles.protocols import Roles
from akinai.learning.roles.replies import read_operations, read_tags
from akinai.learning.roles.tasks import Grade, Task
from akinai.learning.search.dedup import Refinement, dedup, prune
from akinai.learning.search.embedders import LangChainVectors, TfidfSvd
from akinai.learning.search.index import PlaybookIndex, SearchQuery, SearchResult
from akinai.learning.search.injection import Injection, inject, inject_all
from akinai.learning.search.saved_index import open_index
from akinai.learning.search.sudachi import SudachiWords

__all__ = [
    "Bullet", "BulletTag", "Change", "CorruptPlaybook", "DataSet", "Delta", "Difference", "Edit", "EmbedderError",
    "Grade", "Injection", "LangChainVectors", "MissingExtra", "NewerPlaybook", "Operation", "Playbook",
    "PlaybookError", "PlaybookFile", "PlaybookIndex", "Refinement", "Refusal", "Roles", "Saved", "SearchQuery",
    "SearchResult", "Section", "SudachiWords", "Tagging", "Task", "TfidfSvd", "UnreadableReply", "apply_delta",
    "dedup", "difference", "dumps_ace", "estimate_tokens", "export_playbook", "import_playbook", "inject",
    "inject_all", "loads_ace", "object_in", "open_index", "prune", "read_operations", "read_tags", "sections_for",
]  # fmt: skip
