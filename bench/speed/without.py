"""`python -m bench.speed.without batches|encoder ARGUMENT...`: the program `groundwire` without a part of it.

What a part is worth shows beside the same program that lacks it.
"""

import sys

from groundwire_index.embedding.int8 import encoder
from groundwire_ingest.embedding import convert
from groundwire_server.cli import main


def take_out(part: str) -> None:
    """Takes a part out of this process: `batches` of queries, or the int8 `encoder`. Raises SystemExit."""
    if part == "batches":
        encoder.MOST_TEXTS = 1
    elif part == "encoder":
        convert.LEAST_MEAN_COSINE = 2.0  # which no encoder reaches
    else:
        raise SystemExit(f"{part}: is no part; take out `batches` or `encoder`")


if __name__ == "__main__":
    take_out(sys.argv.pop(1))
    main()
