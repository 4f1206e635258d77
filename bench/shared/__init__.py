"""Parts that all benches share: programs that run at the same time, statistics, tables and files of results."""
