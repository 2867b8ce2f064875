"""Code that the lessons share: data, training, plots."""
