"""Programs that answer the benches' questions, one for each system that is measured.

Each runs in the environment of its system, speaks the protocol of `protocol` on stdin and stdout, and imports nothing
of Groundwire unless it measures Groundwire.
"""
