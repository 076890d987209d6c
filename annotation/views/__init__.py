"""The pages. A view parses, calls one function, renders."""
