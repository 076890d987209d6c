"""What knows no table: errors, clock, text, parsing, money, labels, translation, markdown, downloads, middleware."""
