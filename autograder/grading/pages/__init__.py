"""The only room that turns what people wrote into HTML; feedback, report and formgrader use it.

Whatever a submission brought is read as plain data (`notebook`, `untrusted`), made harmless
(`harmless`, `sanitizer`) and kept within limits (`budget`). `render` makes a cell's HTML,
`template` a page's.
"""
