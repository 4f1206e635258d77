# The server with its default embedding model, which works offline.
#
#   docker build -t groundwire .
#   docker run --rm -v groundwire-data:/data -v "$PWD:/source:ro" groundwire \
#       index /source --repository shop --branch main
#   docker run --rm -p 127.0.0.1:50051:50051 -e GROUNDWIRE_LISTEN=0.0.0.0:50051 --read-only --tmpfs /tmp \
#       --stop-timeout 40 -v groundwire-data:/data groundwire
#
# Without GROUNDWIRE_LISTEN, or `listen` in a file that GROUNDWIRE_CONFIG names, calls are answered inside the container
# alone: in its default access mode the server believes whoever reaches it.
#
# --stop-timeout leaves room for the drain: 5 s of pause and up to 30 s of grace unless configured otherwise. /tmp is the
# one folder beside /data that is written; functions are compiled for the machine's processor into it.

FROM python:3.11-slim AS builder

# An exact version, and first: see TORCH in the Makefile. Where the configured index serves CUDA builds only, name one
# with CPU builds in PIP_EXTRA_INDEX_URL.
ARG TORCH=torch==2.13.0
ARG PIP_EXTRA_INDEX_URL=
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1

RUN python -m venv /opt/groundwire
RUN /opt/groundwire/bin/pip install "$TORCH"
COPY . /source
RUN /opt/groundwire/bin/pip install "/source[server,minilm]"

FROM python:3.11-slim

RUN groupadd --gid 10001 groundwire \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin groundwire \
    && install --directory --owner 10001 --group 10001 /data
COPY --from=builder /opt/groundwire /opt/groundwire

ENV PATH=/opt/groundwire/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HF_HUB_OFFLINE=1 \
    NUMBA_CACHE_DIR=/tmp/numba \
    GROUNDWIRE_DATA=/data \
    GROUNDWIRE_HEALTH_LISTEN=0.0.0.0:50052

USER 10001:10001
VOLUME ["/data"]
EXPOSE 50051 50052

# Health has a port of its own, without TLS, so that this check works however the main port is configured.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["python", "-c", "\
import sys, grpc\n\
from grpc_health.v1 import health_pb2, health_pb2_grpc\n\
channel = grpc.insecure_channel('127.0.0.1:50052')\n\
answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=3)\n\
sys.exit(answer.status != health_pb2.HealthCheckResponse.SERVING)\n\
"]

ENTRYPOINT ["groundwire"]
CMD ["serve"]
