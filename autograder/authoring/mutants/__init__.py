"""Mutants: right answers with one fault each, made by rule, to find out what a check misses."""
