"""Studies in and out: folders of tables, through the one gate (analysis/tables)."""
