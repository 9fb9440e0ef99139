"""What a PostgresStore keeps of a run, an entry and a call, and how they are read back as they were.

JSONB orders keys in its own way and writes numbers in another: what is read is written canonically again, so that
entries, texts and digests are those of every other store.
"""

import hashlib
import json
from typing import cast

from akinai.core.canonical import Json, canonical
from akinai.core.errors import BrokenChain
from akinai.core.ledger import Entry


def channel_of(run_id: str) -> str:
    """Where NOTIFY tells of a run's new entries: a channel's name has at most 63 bytes."""
    return f"akinai_{hashlib.blake2b(run_id.encode(), digest_size=16).hexdigest()}"


def entry_of(seq: int, at: int, text: str, digest: str) -> Entry:
    """An entry from JSONB's text. Raises BrokenChain when it is not one."""
    try:
        text = again(text)
    except (ValueError, RecursionError) as error:
        raise BrokenChain(seq, f"its data is not JSON that Akinai reads ({error})") from error
    return Entry.parse(seq, at, text, digest)


def again(text: str) -> str:
    """JSONB's text in the canonical spelling."""
    return canonical(cast("Json", json.loads(text)))
