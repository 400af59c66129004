"""Stage 5: whether an answer may be trusted. Each finding and test is imported from the module that makes it."""
