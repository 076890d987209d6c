"""Files as people have them (Excel, semicolons, other letters and names) become tables that the gate reads."""
