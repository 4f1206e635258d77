"""The contract of Groundwire: `groundwire.v1` holds the protos and the stubs generated from them."""
