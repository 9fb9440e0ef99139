"""The report: sections of prose, tables and figures, as HTML, Markdown and JSON."""
