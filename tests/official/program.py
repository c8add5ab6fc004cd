"""
What the programs that call official clients share: each reads one call from each line of its input, and answers each
with one line.

Every object of a client is shown with the name of its class, so that what the client did not parse shows too.
"""

import asyncio
import json
import sys
import warnings
from base64 import b64encode
from datetime import datetime

from pydantic import BaseModel


def plain(value):
    """Return JSON that shows what *value* was parsed to: an object of the client becomes its class and its fields."""
    if isinstance(value, BaseModel):
        fields = {name: getattr(value, name) for name in value.model_fields_set}
        shown = {name: plain(field) for name, field in fields.items() if field is not None}
        return {"class": type(value).__name__, **shown}
    if isinstance(value, dict):
        return {name: plain(field) for name, field in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return value


async def result(found):
    """Return a value, or that of a coroutine."""
    return await found if hasattr(found, "__await__") else found


async def listed(found):
    """Return the items of an iterator, or of a coroutine of one."""
    found = await result(found)
    return [each async for each in found] if hasattr(found, "__aiter__") else list(found)


def refusal(error):
    """Return the fields of an exception of the client."""
    classes = [each.__name__ for each in type(error).__mro__]
    fields = {
        name: plain(getattr(error, name, None))
        for name in ("status_code", "code", "status", "body", "type", "request_id")
    }
    response = getattr(error, "response", None)
    if isinstance(response, dict):  # of botocore; others have the response of an HTTP library
        fields["response"] = plain(response)
    return {"classes": classes, "message": str(error), **fields}


def write_line(document):
    """Write one line."""
    sys.stdout.write(json.dumps(document) + "\n")
    sys.stdout.flush()


async def reply(answer, request):
    """Return the result of a call, or what it raised."""
    try:
        return {"result": plain(await answer(request))}
    # Whatever it is, the test that asked wants to see it.
    except Exception as error:  # noqa: BLE001
        return {"raised": refusal(error)}


def answer_lines(version, answer):
    """Answer every line of the input. The first line that is written has the version of the client."""
    warnings.simplefilter("ignore")
    write_line({"version": version})
    with asyncio.Runner() as runner:
        for line in sys.stdin:
            write_line(runner.run(reply(answer, json.loads(line))))
