"""Learn a playbook under agent-lightning's Trainer: runs as rollouts, the ACE loop as algorithm, no model, no key."""

import argparse

from akinai.adapters.lightning import learn
from akinai.runtime.learn.train_config import TrainConfig

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="1-4", help="runs to learn from")
    parser.add_argument("--eval-seeds", default="101-106", help="runs to judge on, with the playbook and without")
    parser.add_argument("--days", type=int, default=30, help="days of each run")
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    learned = learn(TrainConfig("vending", "naive", args.seeds, args.eval_seeds, args.days), epochs=args.epochs)
    assert learned.judged
    assert learned.baseline
    print(f"{len(learned.playbook)} bullets in {learned.path}")
    print(f"bank balance ${learned.baseline.mean:,.2f} without them, ${learned.judged.mean:,.2f} with them")
