"""The tables of a term: who takes part, what is due when, and who has longer.

They are CSV files in the course directory, and an instructor edits them by hand or in Excel.
"""
