"""The only place where protobuf messages meet domain values.

`decode_*` turn requests into domain requests. They raise InvalidRequestError for values that the domain cannot express:
an absent scope, an unknown enum value, an access context out of bounds, an invalid time, metadata that is not a scalar.
All other rules are the engine's. `encode_*` turn results into responses; responses have no maps, so their bytes are
determined.
"""
