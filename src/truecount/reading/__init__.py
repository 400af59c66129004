"""Stage 1: files, frames, warehouses and arrays become rows, by one naming rule."""
