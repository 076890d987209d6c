"""Lists of SCUs: advice while one is written, comparing, merging, freezing."""
