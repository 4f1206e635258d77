"""`python -m bench.speed.object_server`: moto's server with one bucket, which answers as S3 does, until it is ended."""

import json
import sys
import threading
from contextlib import closing

import boto3
from moto.server import ThreadedMotoServer

BUCKET = "indexes"
KEY, SECRET, REGION = "key", "secret", "us-east-1"


def _serve() -> None:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    keys = {"aws_access_key_id": KEY, "aws_secret_access_key": SECRET, "region_name": REGION}
    with closing(boto3.client("s3", endpoint_url=address, **keys)) as client:
        client.create_bucket(Bucket=BUCKET)
    print(json.dumps({"event": "listening", "address": address}), file=sys.stderr, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    _serve()
