"""Grade one notebook: no gradebook, no course directory, nothing left behind.

It comes to what `make grade` and `make feedback` find, because the same worker grades it and the
same page is made of it.
"""
