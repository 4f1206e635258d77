"""What tests of the running program share."""
