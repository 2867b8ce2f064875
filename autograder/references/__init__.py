"""The built lessons, a file for each: questions, answer keys and footprints of mistakes."""
