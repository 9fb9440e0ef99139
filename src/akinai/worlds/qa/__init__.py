"""The questions world: a sheet of multiple-choice questions with known answers, asked in turn."""

from akinai.worlds.qa.world import SOLVER, Qa, Question, Setup, State, question_text

__all__ = ["SOLVER", "Qa", "Question", "Setup", "State", "question_text"]
