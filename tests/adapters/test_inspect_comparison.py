"""Logs that Inspect AI wrote itself, of a task that is none of ours, compared."""

import math
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match, mean, stderr
from inspect_ai.solver import generate

import akinai

pytestmark = [  # Inspect's own: it uses an old name of tenacity's, and leaves streams to the garbage collector
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
TOPICS = dict(enumerate("aabbccddeeff", start=1))


def sums(folder: Path, answers: dict[int, str]) -> str:
    """The log of a model that gives these answers to each of twelve questions, asked twice."""
    dataset = [Sample(id=id, input=f"{id}: 1 + 1?", target="2", metadata={"topic": TOPICS[id]}) for id in TOPICS]
    metrics = [mean(), stderr(cluster="topic")]
    task = Task(dataset=dataset, solver=generate(), scorer=match(), metrics=metrics, name="sums")
    left = {id: iter(answers[id]) for id in TOPICS}

    def reply(messages: list[Any], *_: Any) -> ModelOutput:
        output = ModelOutput.from_content("mock", next(left[int(messages[-1].text.partition(":")[0])]))
        return output.model_copy(update={"usage": ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)})

    model = get_model("mockllm/model", custom_outputs=reply)
    (log,) = evaluate(task, model=model, epochs=2, log_dir=str(folder), display="none")
    assert log.status == "success", log.error
    return log.location


@pytest.mark.slow
def test_any_two_logs_of_inspect_are_compared(tmp_path: Path) -> None:
    """Their compression is read, epochs are averaged, and the clusters are those of the task's own standard error."""
    before, after = "22 22 22 22 22 22 11 21 11 11 11 11", "22 21 21 22 22 22 22 22 22 22 22 22"
    worse, better = (
        sums(tmp_path / name, dict(zip(TOPICS, answers.split(), strict=True)))
        for name, answers in (("a", before), ("b", after))
    )
    comparison = akinai.compare_logs(worse, better)
    score = comparison["match"]
    assert (comparison.cluster, score.clusters, score.paired.pairs) == ("topic", 6, 12)
    differences = [-0.25, -0.25, 0, 0.75, 1, 1]  # of each topic
    half = 2.5705818366147395 * stdev(differences) / math.sqrt(6)
    assert score.paired.difference == pytest.approx(0.375)
    # the exact interval of six, from their least to their greatest, lies within Student's, -0.262 to 1.012
    assert score.paired.ci95 == pytest.approx((0.375 - half, 0.375 + half))
