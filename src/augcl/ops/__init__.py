"""Pure tensor functions; nothing here knows about graphs sets, methods or files."""
