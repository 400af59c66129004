"""Results for other programs: plain values, data frames, saved files, metrics, gates of continuous integration."""
