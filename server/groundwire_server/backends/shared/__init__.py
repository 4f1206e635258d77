"""What every backend computes alike, so that the same index gives the same answer whichever backend serves it."""
