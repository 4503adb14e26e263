"""What no paper has: every detector and every response against the simulator's truth."""
