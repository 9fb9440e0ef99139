"""The page on which a person plays: forms, the last outcome, the place, and the reference player's line."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from akinai.core.agents import View
from akinai.core.ledger import Outcome
from akinai.core.presentation.complaints import words_of
from akinai.core.presentation.transcript import Item
from akinai.report.language import translate_lines
from akinai.report.page.play.forms import forms_of
from akinai.report.page.plot import Plot, short_number
from akinai.report.page.run_page import HIGH, Ghosts, headline_plot
from akinai.report.page.site import Site
from akinai.report.page.templating import dollars, json_block, marked, render, translate
from akinai.views.play import PlayView


def play_page(run: Mapping[str, Any], parts: Mapping[str, Any], site: Site) -> Markup:
    """The page of a run that is being played. `run` names it; `parts` are those of `play_parts`."""
    data = {
        "id": run["id"],
        "url": f"{site.play(run['id'])}",
        "parts": {name: part for name, part in parts.items() if name != "markup"},
        "words": _words(site),
    }
    return render("play.html", site.language, site=site, run=run, parts=parts, data=json_block("data", data))


def play_parts(
    playing: PlayView, view: View | None, last: Outcome | None, ghosts: Ghosts | None, site: Site,
    goods: Sequence[Item], *, run: str, ending: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The parts of the page that change with every action: markup by the name of its element, and data for the script.

    `view` is None where the run is over. `ghosts` is None while they are being played.
    """
    language = site.language
    main, groups = forms_of([verb.tool(inline=True) for verb in view.verbs], playing.desk) if view else (None, [])
    forms = [form for group in groups for form in group.forms] + ([main] if main else [])
    labels = {form.verb: form.label for form in forms}
    drafts = [draft for draft in playing.desk.drafts if draft.verb in labels]

    summaries = {words_of(verb): label for verb, label in playing.desk.labels.items()}

    def tell(text: str) -> str:
        return translate_lines(playing.voice.tell(summaries.get(text, text), labels), language)

    shared: dict[str, Any] = {
        "tell": tell, "site": site, "playing": playing, "view": view, "last": last, "over": view is None,
        "ending": ending, "run": run,
        "plot": _plot(playing, ghosts or {}, language), "figure": _figures(playing, ghosts or {}),
    }  # fmt: skip
    markup = {
        name: str(render(f"play_{name}.html", language, **shared)) for name in ("status", "brief", "answer", "log")
    }
    markup["forms"] = str(
        render("play_forms.html", language, main=main, groups=groups, drafts=drafts, over=view is None, tell=tell)
    )
    return {
        "seq": playing.seq,
        "name": playing.name,
        "refused": last is not None and not last.ok,
        "why": tell(last.text) if last is not None and not last.ok else "",
        "over": view is None,
        "ghosts": ghosts is not None,
        "markup": markup,
        "tracks": playing.place_history.to_json() if playing.place_history else None,
        "goods": {item.id: item.name for item in goods},
    }


def _figures(playing: PlayView, ghosts: Ghosts) -> Mapping[str, str]:
    """The headline now, and how far it is from the reference player after the same days."""
    cents = playing.unit == "cents"
    standing = playing.standing
    now = "" if standing is None else short_number(standing, playing.unit)
    figures = {"now": now, "gap": ""}
    rival, closed = ghosts.get(HIGH, ()), playing.closed
    if cents and rival and closed:
        figures["gap"] = dollars(closed[-1] - rival[min(len(closed), len(rival)) - 1], sign=True)
    return figures


def _plot(playing: PlayView, ghosts: Ghosts, language: Any) -> Plot | None:
    if not playing.days or not playing.headline:
        return None
    you = translate(marked("you"), language)
    days = {**ghosts, you: playing.closed}
    return headline_plot((playing.headline, playing.unit), playing.opening, days, playing.days, language)


def _words(site: Site) -> dict[str, str]:
    texts = {
        "empty": marked("empty"), "unpriced": marked("no price"), "nothing": marked("nothing"),
        "soldout": marked("sold out"), "final": marked("This cannot be taken back. Go on?"),
        "lost": marked("The studio does not answer. What you typed is kept here."),
    }  # fmt: skip
    return {name: translate(text, site.language) for name, text in texts.items()}
