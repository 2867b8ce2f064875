"""The built lessons, one file each: questions, answer keys and footprints of mistakes."""
