"""The server side of the `groundwire` command line: one module for each group of commands."""
