"""What learning from the runs of a world came to, as one JSON document."""

import platform
from importlib.metadata import version

from akinai import worlds
from akinai.core.canonical import Json
from akinai.learning.files import sha256
from akinai.learning.formats import dumps
from akinai.runtime.learn import Learned
from akinai.runtime.learn_document import spent_told
from akinai.runtime.learn_world import Practice


def learned_document(learned: Learned, practice: Practice, seconds: float) -> dict[str, Json]:
    """What came of it, as `akinai learn --json` tells it.

    Means and gain are the world's first score, in dollars where that is money. Online, the runs that were learned from
    are those that judge, each before anything was learned from it. `spent` is what models were sent and answered, by
    players and roles together, in epochs and judgements that came to their end; `failed` counts judged runs that broke.
    """
    judged, without, gain = learned.judged, learned.baseline, learned.gain
    return {
        "world": worlds.load(practice.world).name,
        "agent": practice.agent,
        "seeds": practice.seeds,
        "eval_seeds": practice.seeds if practice.online else practice.eval_seeds,
        "online": practice.online,
        "days": practice.days,
        "settings": [*practice.settings],
        "eval_settings": [*practice.eval_settings],
        "epochs": len(learned.epochs),
        "ending": learned.ending,
        "runs": len(judged.scores) if judged else 0,
        "failed": judged.failed if judged else 0,
        "with": judged.mean if judged else None,
        "without": without.mean if without else None,
        "paired": {
            "gain": gain.difference,
            "ci95": list(gain.ci95) if gain.ci95 else None,
            "wins": gain.wins,
            "losses": gain.losses,
            "smallest_visible": gain.smallest_visible,
        }
        if gain
        else None,
        "playbook_size": len(learned.playbook),
        "given_up": sum(epoch.tally.given_up for epoch in learned.epochs),
        "spent": spent_told(learned),
        "seconds": round(seconds, 2),
        "card": {
            "akinai": version("akinai"),
            "python": platform.python_version(),
            "roles": learned.label,
            "model": practice.model.name if practice.model else None,
            "playbook": str(learned.path),
            "playbook_sha256": sha256(dumps(learned.playbook).encode()),
        },
    }
