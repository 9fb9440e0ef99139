"""Which decisions of a run mattered: branches of its record, played on by one player, and what their scores show."""
