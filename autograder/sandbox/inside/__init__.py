"""What runs inside the sandbox: the warm process, and one supervisor and kernel a notebook."""

import sys

# nbformat brings jsonschema, which would compile a grammar of international addresses, for half
# of the time that starting takes. It does without where the grammar can't be imported.
sys.modules.setdefault("rfc3987_syntax", None)
