"""What an author runs: from a lesson's text to notebooks and reference files."""
