"""
A program that calls generate_content of google-genai as an application does, and writes the returned objects as JSON.

Each request is `{"url": …, "mode": "sync" | "async", "call": name, …arguments}`.
"""

from google import genai
from google.genai import types
from google_genai import client_of
from program import answer_lines, listed, result


async def generate(models, **body):
    """Generate an answer and return it."""
    return await result(models.generate_content(**body))


async def stream(models, **body):
    """Generate an answer and return its chunks."""
    return await listed(models.generate_content_stream(**body))


async def models(models, name):
    """Return all models, and one of them."""
    return {"all": await listed(models.list()), "one": await result(models.get(model=name))}


async def converse(models, contents, change=None, how="generate", **body):
    """
    Hold a conversation: every request contains all contents that came before, the answers as objects of the client.

    With *change* the signatures of answers are replaced before they are sent back, by nothing if it is empty.
    """
    sent, answers = [], []
    for content in contents:
        sent.append(types.Content.model_validate(content))
        found = await {"generate": generate, "stream": stream}[how](models, contents=sent, **body)
        chunks = found if isinstance(found, list) else [found]
        answered = [chunk.candidates[0].content for chunk in chunks if chunk.candidates[0].content]
        parts = [part for each in answered for part in each.parts]
        answers.append(parts)
        signed = [part for part in parts if part.thought_signature]
        for part in signed if change is not None else ():
            part.thought_signature = change.encode() or None
        sent.append(types.Content(role="model", parts=parts))
    return answers


CALLS = {each.__name__: each for each in (generate, stream, models, converse)}


async def answer(request):
    """Make one call and return its result."""
    client, mode = client_of(request.pop("url")), request.pop("mode")
    models = {"sync": client, "async": client.aio}[mode].models
    return await CALLS[request.pop("call")](models, **request)


if __name__ == "__main__":
    answer_lines(genai.__version__, answer)
