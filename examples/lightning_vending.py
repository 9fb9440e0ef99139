"""A playbook learned under agent-lightning's Trainer: runs as rollouts, the ACE loop as algorithm; no model, no key."""

import argparse

from akinai.adapters.lightning import learn
from akinai.runtime.learn_world import Practice

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="1-4", help="runs to learn from")
    parser.add_argument("--eval-seeds", default="101-106", help="runs to judge by, with the playbook and without")
    parser.add_argument("--days", type=int, default=30, help="of each run")
    parser.add_argument("--epochs", type=int, default=2)
    asked = parser.parse_args()
    learned = learn(Practice("vending", "naive", asked.seeds, asked.eval_seeds, asked.days), epochs=asked.epochs)
    assert learned.judged
    assert learned.baseline
    print(f"{len(learned.playbook)} bullets in {learned.path}")
    print(f"net worth ${learned.baseline.mean:,.2f} without them, ${learned.judged.mean:,.2f} with them")
