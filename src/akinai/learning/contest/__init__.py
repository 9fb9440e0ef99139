"""Other ways to spend the same tasks and tokens, which a playbook is compared with."""
