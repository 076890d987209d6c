"""The front page, a study, its batches and members, how far they are, second rounds."""
