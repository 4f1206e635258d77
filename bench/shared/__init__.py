"""What all benches share: programs that run beside them, statistics, tables and files of results."""
