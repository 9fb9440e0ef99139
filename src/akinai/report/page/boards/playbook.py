"""The pages of playbooks: which there are, one with its bullets and history, and how two differ."""

from collections.abc import Collection, Sequence

from markupsafe import Markup

from akinai.learning.playbook.patches import Difference
from akinai.report.page.site import Site
from akinai.report.page.templating import marked, render
from akinai.views.playbook import PlaybookView

CHANGES = (marked("added"), marked("changed"), marked("counted"), marked("removed"))
"""What may have happened to a bullet."""


def playbooks_page(playbooks: Sequence[tuple[str, int]], site: Site) -> Markup:
    """The list of playbooks, each with the number of its bullets; -1 for one that cannot be read."""
    return render("playbooks.html", site.language, site=site, playbooks=playbooks)


def playbook_page(view: PlaybookView, site: Site, *, runs: Collection[str], others: Sequence[str] = ()) -> Markup:
    """The page of a playbook. `runs` are those that have a page; `others` can be compared with it."""
    most = max((item.bullet.uses + item.bullet.neutral for item in view.bullets), default=0)
    return render("playbook.html", site.language, site=site, view=view, known=frozenset(runs), others=others, most=most)


def difference_page(name: str, before: str, after: str, found: Difference, site: Site) -> Markup:
    """What was added, removed and changed from one playbook, or point of its history, to another."""
    return render("playbook_diff.html", site.language, site=site, name=name, before=before, after=after, diff=found)
