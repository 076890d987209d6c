"""Documents, summaries and SCUs for programs; and files that become a study."""
