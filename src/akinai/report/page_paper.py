"""The paper's own results, for those who ask for them: another world's numbers."""

from akinai.report.page_contents import Grid, Prose, Section

# arXiv 2502.15840: mean and min net worth in dollars; the human played once.
ROWS = (
    ("Claude 3.5 Sonnet", "$2,217.93", "$476.00"),
    ("o3-mini", "$906.86", "$369.05"),
    ("human (one run, 67 days)", "$844.05", "-"),
    ("Gemini 1.5 Pro", "$594.02", "$439.20"),
    ("GPT-4o mini", "$582.33", "$420.50"),
    ("Gemini 1.5 Flash", "$571.85", "$476.00"),
    ("Claude 3.5 Haiku", "$373.36", "$264.00"),
    ("Gemini 2.0 Flash", "$338.08", "$157.25"),
    ("GPT-4o", "$335.46", "$265.65"),
    ("Gemini 2.0 Pro", "$273.70", "-"),
)

PAPER = Section(
    "Vending-Bench, as published",
    (
        Prose(
            "Another world's numbers: not comparable. The demand, suppliers and durations of Vending-Bench are "
            "unpublished, and the world played here is not that one."
        ),
        Grid(("who played", "mean net worth (dollars)", "min net worth (dollars)"), ROWS, note="arXiv 2502.15840."),
    ),
)
