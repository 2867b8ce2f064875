"""What the lessons share: data, training, plots."""
