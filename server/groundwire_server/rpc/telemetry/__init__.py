"""Telemetry of calls for operators: the access log, metrics, traces, and gRPC's own channelz."""
