"""Pack what an instructor uploads to a platform that answers by itself (`grading.platforms`)."""
