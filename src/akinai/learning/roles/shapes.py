"""The objects that the roles ask for, as the reader of replies looks for them. Pure."""

from akinai.core.replies.objects import Shape

ANSWER = Shape(
    ("answer", "actions"),
    ("reasoning", "bullet_ids"),
    {"final_answer": "answer", "action": "actions", "thought": "reasoning", "used_bullets": "bullet_ids"},
    frozenset({"the answer", "the first action"}),
)
INSIGHT = Shape(
    ("key_insight",),
    ("error_identification", "root_cause_analysis", "correct_approach"),
    {
        "insight": "key_insight",
        "error": "error_identification",
        "root_cause": "root_cause_analysis",
        "tags": "bullet_tags",
    },
)
INSIGHTS = Shape(("insights",), ("reasoning",), {"key_insights": "insights", "tags": "bullet_tags"})
OPERATIONS = Shape(
    ("operations",), ("reasoning",), {"ops": "operations", "changes": "operations"}, frozenset(), "operations", "type"
)
