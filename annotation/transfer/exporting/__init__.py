"""Studies going out: tables, a manifest, jobs that write them."""
