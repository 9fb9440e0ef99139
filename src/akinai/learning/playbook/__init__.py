"""The playbook: bullets in sections, the deltas that change them, the journal and the file formats."""
