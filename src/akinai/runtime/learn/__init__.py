"""Learning as a person asks for it: a data set or a world, a playbook on disk, and the result."""
