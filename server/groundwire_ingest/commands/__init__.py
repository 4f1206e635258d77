"""The commands that read sources and write them."""
