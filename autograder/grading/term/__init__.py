"""The tables of a term: who takes part, what is due when, and who has more time.

They are CSV files in the course directory, which instructors edit by hand or in Excel.
"""
