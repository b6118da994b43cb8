"""What people look at: pages, tables and figures."""
