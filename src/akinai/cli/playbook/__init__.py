"""The commands of a playbook, and their tables."""

from akinai.cli.playbook.commands import app

__all__ = ["app"]
