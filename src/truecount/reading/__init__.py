"""Stage 1a: files, frames, warehouses and arrays become rows, by one naming rule."""
