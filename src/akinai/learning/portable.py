"""Playbooks as files to carry away: JSON, YAML or ACE's text, by the ending of the name. No journal, no lock."""

from pathlib import Path

from akinai.core.errors import UsageError
from akinai.learning.ace_text import dumps_ace, loads_ace
from akinai.learning.files import write_whole
from akinai.learning.formats import decoded, dumps, dumps_yaml, loads, loads_yaml
from akinai.learning.keywords import with_keywords
from akinai.learning.playbook import Playbook

ENDINGS = (".json", ".yaml", ".yml", ".txt", ".md")
"""JSON; YAML; YAML; ACE's text; ACE's text."""


def import_playbook(path: Path | str) -> Playbook:
    """The playbook in a file. Bullets of ACE's text get the keywords that it has no place for.

    UsageError when there is no such file or its ending is not one of ours, CorruptPlaybook naming the place at fault.
    """
    path = Path(path)
    ending = _ending(path)
    try:
        text = decoded(path.read_bytes(), path.name)
    except FileNotFoundError as error:
        raise UsageError(f"no file {str(path)!r}; name one that is there") from error
    if ending == ".json":
        return loads(text, path.name)
    if ending in (".yaml", ".yml"):
        return loads_yaml(text, path.name)
    return with_keywords(loads_ace(text, path.name))


def export_playbook(playbook: Playbook, path: Path | str) -> None:
    """Write a playbook whole, in the form that the ending names. ACE's text holds ids, counters and contents only."""
    path = Path(path)
    ending = _ending(path)
    if ending == ".json":
        text = dumps(playbook)
    elif ending in (".yaml", ".yml"):
        text = dumps_yaml(playbook)
    else:
        text = dumps_ace(playbook.sections)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode())


def _ending(path: Path) -> str:
    if path.suffix.lower() in ENDINGS:
        return path.suffix.lower()
    raise UsageError(f"{str(path)!r} names no form of a playbook; end it in one of {', '.join(ENDINGS)}")
