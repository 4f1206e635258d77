"""The only place where protobuf messages meet domain values.

`decode_*` turn requests into domain requests and raise InvalidRequestError for what the domain cannot express:
an absent scope, an enum value that this server does not know, an access context out of bounds, a time that is none,
metadata that is no scalar. All other rules are the engine's. `encode_*` turn results into responses; responses have no
maps, so their bytes are determined.
"""
