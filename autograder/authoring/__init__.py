"""The author's tools: make notebooks and reference files from a lesson's text."""
