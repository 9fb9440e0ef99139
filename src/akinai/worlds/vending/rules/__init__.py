"""What each action does and how time passes."""
