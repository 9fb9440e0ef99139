"""A program that replays runs in a new interpreter: reads them from stdin and writes their entries to stdout."""

import base64
import json
import pickle
import sys
from dataclasses import replace


def main() -> None:
    """Replay the runs of the document that `records` wrote, each from its genesis."""
    document = json.loads(sys.stdin.buffer.read())
    sys.path[:] = document["path"]
    from akinai.core.ledger import Entry, Genesis
    from akinai.core.worlds import World, read_turn, step

    world: World[object] = pickle.loads(base64.b64decode(document["world"]))
    replayed = list[list[list[object]]]()
    for run in document["runs"]:
        genesis = Genesis(**json.loads(run["genesis"]))
        state, digest, at, entries = world.begin(genesis), genesis.digest, 0, list[list[object]]()
        for recorded in run["entries"]:
            turn = read_turn(world, Entry.parse(*recorded))
            now = world.now(state)
            at = max(at, turn.at if now is None else now)
            state, outcome = step(world, state, replace(turn, at=at))
            entry = Entry.of(digest, replace(turn, at=at), outcome)
            digest = entry.digest
            entries.append([entry.seq, entry.at, entry.text, entry.digest])
        replayed.append(entries)
    sys.stdout.buffer.write(json.dumps(replayed).encode())


if __name__ == "__main__":
    main()
