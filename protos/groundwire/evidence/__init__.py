"""How evidence is made: what is chosen, how texts are cut, how a budget is packed, how it is laid out for a prompt.

Pure functions without I/O, which the server (`GatherEvidence`) and pipelines (`render_context_blocks`) share.
"""
