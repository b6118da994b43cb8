"""What people look at: HTML pages and tables in Markdown."""
