"""Lets an official Python SDK read many streams and prints what it made of each.

Argument: the name of an accumulator. First line out: `{"versions": {package: version}}`. Lines in: `{"id", "url"}`,
a base URL whose every path answers with one stream. Lines out, in the same order: `{"id", "final"}` with the object that
the SDK itself put together, or `{"id", "raised": {"class", "message", "at"}}` with the SDK's innermost file and line.
"""

import importlib
import json
import sys
import traceback
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "python"))


def place(error: BaseException, package: str) -> str | None:
    """The innermost line of the package's own code on the way to the error."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        _, here, path = frame.filename.rpartition("/site-packages/")
        if here and path.startswith(package + "/"):
            return f"{path}:{frame.lineno}"
    return None


def main() -> None:
    warnings.simplefilter("ignore")  # that a stream does not fit the SDK's types shows in the result
    accumulator = importlib.import_module(sys.argv[1])
    print(json.dumps({"versions": {accumulator.NAME: accumulator.VERSION}}), flush=True)
    for line in sys.stdin:
        stream = json.loads(line)
        answer = {"id": stream["id"]}
        try:
            answer["final"] = accumulator.final(stream["url"])
        except Exception as error:  # whatever an SDK raises is a result
            answer["raised"] = {
                "class": type(error).__name__,
                "message": str(error),
                "at": place(error, accumulator.PACKAGE),
            }
        print(json.dumps(answer), flush=True)


main()
