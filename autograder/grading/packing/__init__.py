"""Pack what an instructor uploads to a platform that grades by itself (`grading.platforms`)."""
