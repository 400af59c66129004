"""Stage 3c: what data will tell before they are gathered, and which to gather."""
