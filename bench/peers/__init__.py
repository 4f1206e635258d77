"""Systems that Groundwire is compared with, each called by a program of its own in an environment of its own.

Each speaks the protocol of `bench.speed.protocol` on stdin and stdout, and imports nothing of Groundwire.
"""
