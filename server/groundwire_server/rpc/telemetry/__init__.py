"""What operators learn of calls: the access log, metrics, traces, and gRPC's own channelz."""
