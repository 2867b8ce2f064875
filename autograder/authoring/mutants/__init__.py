"""Mutants: right answers with one fault each, made by rule, to find what a check lets pass."""
