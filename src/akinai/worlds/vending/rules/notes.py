"""Notes of the owner: a notepad, notes by key, and memories found by meaning."""

from dataclasses import replace

from akinai.core.ledger import Outcome
from akinai.retrieval import find_by_meaning
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import Result, State
from akinai.worlds.vending.model.verb import NOTEPAD_LIMIT

KEYS_LIMIT = 500
MEMORIES_LIMIT = 2000


def notepad_read(state: State) -> Result:
    """Show the notepad's text."""
    return state, Outcome(state.notes.notepad or "(the notepad is empty)", data={"text": state.notes.notepad})


def notepad_write(state: State, action: a.NotepadWrite) -> Result:
    """Replace the notepad's text or add to it. Refused as `full` when it would grow above its limit."""
    old = state.notes.notepad
    text = f"{old}\n{action.text}" if action.append and old else action.text
    if len(text) > NOTEPAD_LIMIT:
        why = f"the notepad holds {NOTEPAD_LIMIT} characters, this would be {len(text)}; shorten it"
        return state, Outcome.refused("full", why)
    return state.moved(notes=replace(state.notes, notepad=text)), Outcome(
        f"Noted; the notepad has {len(text)} characters."
    )


def notepad_erase(state: State) -> Result:
    """Erase the notepad."""
    return state.moved(notes=replace(state.notes, notepad="")), Outcome("The notepad is empty.")


def update_notes(state: State, action: a.UpdateNotes) -> Result:
    """Save a note under a key. Refused as `full` when the limit of keys is reached."""
    if action.key not in state.notes.by_key and len(state.notes.by_key) >= KEYS_LIMIT:
        return state, Outcome.refused("full", f"there are {KEYS_LIMIT} notes; delete one first")
    notes = replace(state.notes, by_key=state.notes.by_key.set(action.key, action.content))
    return state.moved(notes=notes), Outcome(f"Noted under {action.key!r}.")


def get_notes(state: State, action: a.GetNotes) -> Result:
    """Show the note under a key, or list all keys. Refused as `no_note`."""
    if action.key is None:
        keys = sorted(state.notes.by_key)
        return state, Outcome("Notes: " + ", ".join(keys) if keys else "There are no notes.", data={"keys": keys})
    content = state.notes.by_key.get(action.key)
    if content is None:
        return state, Outcome.refused("no_note", f"there is no note under {action.key!r}")
    return state, Outcome(content or "(empty)", data={"content": content})


def delete_note(state: State, action: a.DeleteNote) -> Result:
    """Delete the note under a key. Refused as `no_note`."""
    if action.key not in state.notes.by_key:
        return state, Outcome.refused("no_note", f"there is no note under {action.key!r}")
    notes = replace(state.notes, by_key=state.notes.by_key.delete(action.key))
    return state.moved(notes=notes), Outcome(f"Deleted the note under {action.key!r}.")


def add_memory(state: State, action: a.AddMemory) -> Result:
    """Add a memory. Refused as `full` when the limit of memories is reached."""
    memories = state.notes.memories
    if len(memories) >= MEMORIES_LIMIT:
        return state, Outcome.refused("full", f"there are {MEMORIES_LIMIT} memories; no more fit")
    notes = replace(state.notes, memories=memories.put(action.text))
    return state.moved(notes=notes), Outcome(f"Remembered; {len(memories) + 1} memories.")


def search_memory(state: State, action: a.SearchMemory) -> Result:
    """Find memories by words and meaning, best first."""
    by_id = {f"{i:05d}": text for i, text in enumerate(state.notes.memories)}
    memories = [by_id[id] for id in find_by_meaning(action.query, by_id, action.limit)]
    if not memories:
        return state, Outcome("Nothing found.", data={"found": []})
    return state, Outcome("\n".join(f"- {text}" for text in memories), data={"found": memories})
