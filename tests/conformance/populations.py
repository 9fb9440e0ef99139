"""Where the public populations are."""

import os
from pathlib import Path

SHARED = Path(__file__).parents[3] / "shared"
POPULATIONS = Path(os.environ.get("AKINAI_DATA", SHARED / "data")) / "market"
NAMES = ("3x9", "10x30", "33x99")
