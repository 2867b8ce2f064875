"""The code that knows the answers: it compares results with the key and explains them."""
