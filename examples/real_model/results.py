"""What a real model of 1.5 billion parameters learns and earns, without a key: `make real-results` runs this.

python examples/real_model/results.py RUNTIME WEIGHTS [PART ...]: RUNTIME is the folder of `node-llama-cpp`, WEIGHTS
that of the model. It prints three tables, each with its intervals: `rule` (a task whose rule no model can know),
`sprint` (eight weeks of the street, a decision each), `worlds` (a market, and a sheet of questions). What is done is
kept in WEIGHTS/results and is not done again; a call that was answered is not asked again.
"""

import json
import platform
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import akinai
from akinai.core.errors import AkinaiError, UsageError
from akinai.core.statistics.intervals import mean_interval, proportion_interval
from akinai.learning import Bullet, Playbook, Section, export_playbook
from akinai.learning.data_sets import DataSet
from akinai.learning.roles.tasks import CHECKS, Split, Task
from akinai.runtime.runs.records import INTERRUPTED

try:
    from fetch import MODEL as WEIGHTS_FILE
    from fetch import PARTS, SHA256
    from play import LARGE, MODEL, serving
except ImportError:
    from real_model.fetch import MODEL as WEIGHTS_FILE
    from real_model.fetch import PARTS, SHA256
    from real_model.play import LARGE, MODEL, serving

GATES = ("harbour gate", "hill gate", "mill gate", "river gate")
GOODS = ("teak", "wool", "tin", "salt", "silk", "coal", "tea", "glass", "rope", "cork", "wax", "jade")
PEOPLE = ("Ito", "Sato", "Mori", "Hara", "Ueda", "Kato", "Abe", "Endo", "Oda", "Noda")
ITEMS, TRAINED = 200, 60
"""Tasks, and those of them that are learned from."""
SHOWN = 3
"""Bullets that a task gets to see: of twelve permuted ones these hold the right one in a quarter of the tasks."""
FOR_SMALL = {"prompts": "small", "new_tries": False}
"""Settings of the learner by which a small model writes sentences that hold: no second try, and one field a reply."""
SEEDS = "1-5"
"""Games of the street under a key that is drawn for these results, and practice seeds of the other worlds."""
EIGHT_WEEKS: Mapping[str, Any] = {"preset": "sprint", "days": 56}
STREETS: Mapping[str, tuple[Mapping[str, Any], Sequence[str]]] = {
    "from an empty street": ({}, ("search_web", "get_price_lists", "week")),
    "taking over after eight weeks": ({"takes_over": 8}, ("week",)),
}
"""Settings, and the model's tools: the form that holds a whole week, and where nothing is known yet how to look."""
WINDOWS = {"vending": 5_000}
"""Tokens that the model sees, 8,000 elsewhere: a small one goes on with what it did as long as it sees it."""
LADDER = ("idle", "naive", "listed", "reference")
WORLDS: Mapping[str, Mapping[str, Any]] = {
    "market": {
        "settings": {"customers.count": 1, "businesses.count": 2, "businesses.agent": "careful"},
        "max_actions": 30,
    },
    "qa": {"settings": {"draw": 20}},
}
RIVALS: Mapping[str, Sequence[str]] = {"market": ("first", "careful"), "qa": ("first", "overlap")}


def rule(shift: int = 0) -> Mapping[str, str]:
    """The gate by which each of the goods leaves; drawn once, so that no model can have read it. `shift` gives the
    rule of wrong bullets: each gate is the next one."""
    drawn = random.Random(37)
    gates = [GATES[index % len(GATES)] for index in range(len(GOODS))]
    drawn.shuffle(gates)
    return {good: GATES[(GATES.index(gate) + shift) % len(GATES)] for good, gate in zip(GOODS, gates, strict=True)}


def tasks() -> list[Task]:
    """Two hundred questions, each with its own weight and person; the rule decides, nothing else does."""
    drawn, gates = random.Random(200), rule()
    items: list[Task] = []
    for number in range(ITEMS):
        good, weight, person = GOODS[number % len(GOODS)], drawn.randrange(10, 900), drawn.choice(PEOPLE)
        choices = drawn.sample(GATES, len(GATES))
        question = f"A crate of {good}, {weight} kg, for {person}. By which gate does it leave the yard?"
        text = f"{question}\nAnswer with one of: {', '.join(choices)}."
        items.append(Task(f"crate-{number + 1}", text, gates[good], question, source=f"crates#{number + 1}"))
    drawn.shuffle(items)
    return items


def data_set() -> DataSet:
    """The questions as a data set: sixty to learn from, the others judge."""
    items = tasks()
    splits: dict[Split, Sequence[Task]] = {"train": items[:TRAINED], "validation": items[TRAINED:]}
    sections = (Section("gates", "By which gate goods leave the yard."),)
    return DataSet("crates", lambda split: splits.get(split, ()), check=CHECKS["contains"], sections=sections)


def facts(shift: int = 0) -> Playbook:
    """The rule as bullets, one for each of the goods."""
    contents = [f"A crate of {good} leaves the yard by the {gate}." for good, gate in rule(shift).items()]
    bullets = tuple(
        Bullet(f"gat-{n:05}", "gates", text, (good,))
        for n, (good, text) in enumerate(zip(GOODS, contents, strict=True), 1)
    )
    return Playbook((Section("gates", "By which gate goods leave the yard.", bullets),), len(bullets) + 1)


class Results:
    """What was done, by name, in a folder: a part that is there is not done again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def of(self, name: str, make: Callable[[], Any]) -> Any:
        path = self.folder / f"{name}.json"
        if path.exists():
            return json.loads(path.read_text(encoding="utf-8"))
        start = perf_counter()
        value = {**make(), "seconds": round(perf_counter() - start)}
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
        unfinished.replace(path)
        print(f"  {name}: {value['seconds']} s", file=sys.stderr, flush=True)
        return value


def learn(
    url: str, folder: Path, name: str, settings: Mapping[str, Any] | None = None, **options: Any
) -> dict[str, Any]:
    """The document of a learning or a judgement, with the answers; a reply that is in the folder is not asked again."""
    learned = akinai.learn(
        data_set(), model=MODEL, base_url=url, temperature=0.0, timeout=900, cache=folder / "replies.cache",
        playbook=folder / f"{name}.playbook.json", jobs=1, settings={"top_k": SHOWN, **(settings or {})}, **options,
    )  # fmt: skip
    answers = dict(learned.judged.answers) if learned.judged else {}
    return {"document": learned.to_json(), "answers": answers}


def judged(url: str, folder: Path, name: str, playbook: Playbook, *, baseline: bool) -> dict[str, Any]:
    """What a playbook is worth as it is."""
    export_playbook(playbook, folder / f"{name}.playbook.json")
    return learn(url, folder, name, judge_only=True, baseline=baseline)


def rule_table(url: str, results: Results) -> list[str]:
    """The table of the rule: every row is judged on the same 140 questions."""
    folder = results.folder
    right = results.of("rule-right", lambda: judged(url, folder, "rule-right", facts(), baseline=True))
    wrong = results.of("rule-wrong", lambda: judged(url, folder, "rule-wrong", facts(1), baseline=False))
    own = results.of("rule-own", lambda: learn(url, folder, "rule-own", against="placebo,icl", checkpoint=None))
    small = results.of(
        "rule-small", lambda: learn(url, folder, "rule-small", FOR_SMALL, against="placebo,icl", checkpoint=None)
    )
    document, learned, short = right["document"], own["document"], small["document"]
    wrong_rule = {task.id: gate for task in tasks() for good, gate in rule(1).items() if f" {good}," in task.text}
    followed = sum(CHECKS["contains"](wrong_rule[id], answer or "-") for id, answer in wrong["answers"].items())
    n = len(wrong["answers"])
    rows = [
        ("no playbook", document["baseline_accuracy"]),
        ("right bullets", document["accuracy"]),
        ("the same bullets, permuted", document["control"]["accuracy"] if document["control"] else None),
        ("wrong bullets: right answers", wrong["document"]["accuracy"]),
        ("wrong bullets: answers as they say", {"value": followed / n, "ci95": proportion_interval(followed, n)}),
        (f"the playbook that it learned from {TRAINED} tasks", learned["accuracy"]),
        ("that playbook, permuted", learned["control"]["accuracy"] if learned["control"] else None),
        ("the playbook that it learned by the prompts for small models", short["accuracy"]),
        ("that playbook, permuted", short["control"]["accuracy"] if short["control"] else None),
    ]
    lines = [f"| {n} questions | right answers | 95 % |", "| --- | --- | --- |"]
    lines += [f"| {name} | {share['value']:.1%} | {_interval(share['ci95'], '.1%')} |" for name, share in rows if share]
    for icl in (row for rows in (learned, short) for row in rows["against"] if row["name"] == "icl"):
        lines.append(f"| raw examples in as many tokens ({icl['injected']:.0f}) | {icl['accuracy']:.1%} | |")
    claims = {
        "right bullets": document["control"],
        "its own playbook": learned["control"],
        "its own by the prompts for small models": short["control"],
    }
    for name, control in claims.items():
        if control and (paired := control["paired"]):
            points, ends = 100 * paired["gain"], [100 * end for end in paired["ci95"] or ()]
            lines.append(f"\n{name} over permuted bullets: {points:+.1f} points ({_interval(ends, '+.1f')})")
    sizes = ", ".join(f"{rows['playbook_size']} bullets (given up {rows['given_up']})" for rows in (learned, short))
    return [*lines, f"\nlearned: {sizes}"]


def played(url: str, store: str, world: str, agent: str, name: str, **options: Any) -> dict[str, Any]:
    """Five runs of a player, or of the model where the agent is one that asks: its scores and its endings."""
    asks: dict[str, Any] = {"model": MODEL, "base_url": url, "timeout": 900, "window": WINDOWS.get(world, 8_000)}
    begun = Path(store).exists() and any(run.group == name for run in akinai.runs(store=store, ledgers=False))
    if begun:
        runs = akinai.resume(name, store=store, jobs=1)
    else:
        options = {**asks, **options} if agent in ("chat", "structured") else options
        runs = akinai.run(world, agent=agent, seeds=SEEDS, name=name, store=store, jobs=1, **options)
    if cut := [run for run in runs if run.status == "failed" or run.ending in INTERRUPTED]:
        raise UsageError(f"{cut[0].id} is not over: {cut[0].reason or cut[0].ending}")
    score = runs[0].scores[0]
    values = [run.scores[0].value for run in runs if run.measured]
    factor = 100 if score.unit == "cents" else 1
    return {
        "score": score.name,
        "unit": "dollars" if factor == 100 else score.unit,
        "values": [value / factor for value in values],
        "endings": [run.ending or run.status for run in runs],
    }


def score_rows(parts: Mapping[str, dict[str, Any]]) -> list[str]:
    """A row a player, with the mean and the interval of its runs."""
    lines = ["| player | runs | mean | 95 % | endings |", "| --- | --- | --- | --- | --- |"]
    for name, part in parts.items():
        values = part["values"]
        mean = f"{sum(values) / len(values):,.2f} {part['unit']}" if values else "none measured"
        ends = _interval(mean_interval(values) or (), ",.2f") if values else ""
        endings = ", ".join(f"{part['endings'].count(end)} {end}" for end in dict.fromkeys(part["endings"]))
        lines.append(f"| {name} | {len(values)} | {mean} | {ends} | {endings} |")
    return lines


def sprint_table(url: str, results: Results) -> list[str]:
    """The tables of the street, from nothing and with a business that somebody ran before, beside players by rules."""
    store, key = f"{results.folder / 'runs.db'}", results.folder / "key.json"
    if not key.exists():
        akinai.seal.new(key)
    lines = [f"Games {SEEDS} of the key {akinai.seal.show(key).commitment[:12]}, {EIGHT_WEEKS['days'] // 7} weeks.\n"]
    for number, (title, (settings, tools)) in enumerate(STREETS.items(), 1):
        plain: Mapping[str, Any] = {**EIGHT_WEEKS, "key": key, "settings": settings}  # the ladder uses all tools
        form = {**plain, "settings": {**settings, "tools": list(tools)}}
        advised = {**form, "settings": {**form["settings"], "advice": True}}
        players: dict[str, tuple[str, Mapping[str, Any]]] = {agent: (agent, plain) for agent in LADDER}
        players |= {"the model with advice": ("structured", advised), "the model": ("structured", form)}
        lines += [
            f"### {title}\n",
            *score_rows(all_played(url, store, "vending", f"street-{number}", players, results)),
        ]
    return lines


def all_played(
    url: str,
    store: str,
    world: str,
    title: str,
    players: Mapping[str, tuple[str, Mapping[str, Any]]],
    results: Results,
) -> dict[str, dict[str, Any]]:
    """The runs of players by name: each is an agent with its options."""
    parts: dict[str, dict[str, Any]] = {}
    for number, (name, (agent, options)) in enumerate(players.items(), 1):
        group = f"{title}-{number}-{agent}"
        parts[name] = results.of(group, partial(played, url, store, world, agent, group, **options))
    return parts


def worlds_table(url: str, results: Results) -> list[str]:
    """The tables of a market and of a sheet of questions."""
    store, lines = f"{results.folder / 'runs.db'}", list[str]()
    for world, options in WORLDS.items():
        players = {agent: (agent, options) for agent in RIVALS[world]} | {"the model": ("structured", options)}
        lines += [f"### {world}\n", *score_rows(all_played(url, store, world, world, players, results)), ""]
    return lines


def _interval(ends: Sequence[float], form: str) -> str:
    return f"{ends[0]:{form}} to {ends[-1]:{form}}" if ends else ""


PARTS_BY_NAME: Mapping[str, Callable[[str, Results], list[str]]] = {
    "rule": rule_table, "sprint": sprint_table, "worlds": worlds_table,
}  # fmt: skip


def card() -> str:
    """The model and the versions, in a line."""
    return (
        f"{WEIGHTS_FILE} ({PARTS} parts, SHA-256 {SHA256[:8]}...), node-llama-cpp 3.22.1, temperature 0 in (a), "
        f"akinai {version('akinai')}, Python {platform.python_version()}, {platform.machine()}"
    )


def main(runtime: Path, large: Path, names: Sequence[str]) -> None:
    weights, results = large / WEIGHTS_FILE, Results(large / "results")
    if not weights.exists():
        sys.exit(f"no model at {weights}; `make real-results` fetches it, or `python fetch.py {large}`")
    if unknown := [name for name in names if name not in PARTS_BY_NAME]:
        sys.exit(f"no part {unknown[0]!r}; there are {', '.join(PARTS_BY_NAME)}")
    print(card(), flush=True)
    with serving(runtime, weights, LARGE) as url:
        for name in names or PARTS_BY_NAME:
            lines = [f"\n## {name}\n", *PARTS_BY_NAME[name](url, results)]
            print("\n".join(lines), flush=True)
            (results.folder / f"{name}.md").write_text("\n".join([card(), *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("give the folder of the runtime and that of the model: results.py RUNTIME WEIGHTS [PART ...]")
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
    except AkinaiError as error:
        sys.exit(f"stopped: {error}; the same command goes on from here")
