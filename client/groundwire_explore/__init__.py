"""`groundwire explore`: a page on this machine that shows what a server answers, and why.

It asks a running server through the client, with the access it was started with, and changes nothing.
"""
