"""The computations that all backends share, so that the same index gives the same answer on every backend."""
