"""Who calls, what that grants, and how a request narrows it."""
