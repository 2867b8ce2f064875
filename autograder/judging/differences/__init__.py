"""Rules: each one knows one way of being wrong, and has a sentence for it."""
