"""Groups of two classes: their prevalences are integrated over, and what they have in common is drawn."""
