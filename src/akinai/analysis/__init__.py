"""One reader of runs: groups, pairs, scale and differences, from what a store holds."""
