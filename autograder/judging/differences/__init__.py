"""Rules, each of which knows one way of being wrong, and says it in a sentence."""
