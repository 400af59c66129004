"""Where the density is highest, and where it piles up."""
