"""Models as judges: describe one, see what it costs, ask it the tasks of a batch, look at what it said."""
