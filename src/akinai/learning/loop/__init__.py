"""The learning loop: its steps, its state, its graph, and the evaluation of playbooks."""
