"""What each lesson's exercises are checked by: cases, known mistakes, alternatives, hints."""
