"""Code that the lessons share: data, models, plots, views, a trainer, the cost of a call."""
