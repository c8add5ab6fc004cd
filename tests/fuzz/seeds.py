"""
What the fuzzer damages: the samples of a dialect's tests, their frames in another order, and recorded streams.
"""

from functools import cache
from importlib import import_module

import attrs

from assistant_events.adapters import Framing, load_dialect
from assistant_events.testing.mutations import mutated
from assistant_events.testing.sample import Sample
from tests.corpus.recordings import FRAMINGS, files, form_of

from .generated import noisy
from .generated import stream as interactions

INTERACTIONS = "gemini-interactions"


@attrs.frozen
class Stream:
    """
    The bytes of a stream, and how they are read.
    """

    dialect: object
    body: bytes
    framing: type[Framing] | None = None

    def decoder(self, *, fast=True, prior=None):
        made = self.dialect.decoder("m", framing=self.framing, prior=prior)
        made.fast = fast
        return made

    def decode(self, chunks=None, **options):
        """
        Return the events of the stream, whole or in these chunks, and the decoder.
        """
        made = self.decoder(**options)
        return [
            event for chunk in ([self.body] if chunks is None else chunks) for event in made.feed(chunk)
        ] + made.close(), made

    @property
    def frames(self):
        """
        How many frames there are.
        """
        framing = self.decoder().framing()
        return len(framing.feed(self.body)) + len(framing.close())


@cache
def samples(name):
    """
    Return the samples of the tests of a dialect, by name.
    """
    folder = "" if name == INTERACTIONS else f".{name.replace('-', '_')}"
    bodies = import_module(f"tests.adapters{folder}.samples").SAMPLES
    return {each: Sample(load_dialect(name), each, body) for each, body in bodies.items()}


@cache
def recorded(name):
    """
    Return the recorded streams of a dialect; none where nothing is shared beside this repository.
    """
    dialect = load_dialect(name)
    forms = [(form_of(file, body), body) for file, body in files(name).items() if "http-error" not in file]
    return [Stream(dialect, body, FRAMINGS.get(form)) for form, body in forms if form in {"sse", *FRAMINGS}]


def stream(name, random):
    """
    Return a stream of a dialect: a recorded one that is damaged, or one that is made up; equal seeds give equal ones.
    """
    if recorded(name) and random.random() < 0.3:
        chosen = random.choice(recorded(name))
        return attrs.evolve(chosen, body=mutated(chosen.body, random))
    return made_up(name, random)


def made_up(name, random):
    """
    Return a stream of the frames of some samples, most of them damaged.
    """
    dialect = load_dialect(name)
    if name == INTERACTIONS and random.random() < 0.7:
        body = interactions(random)
        return Stream(dialect, noisy(body, random) if random.random() < 0.3 else body)
    mixed = Sample(dialect, "mixed", _mixed(list(samples(name).values()), random))
    kind = random.random()
    if kind < 0.3:
        return Stream(dialect, mixed.body)
    return Stream(dialect, mutated(mixed.body, random) if kind < 0.7 else mixed.damaged_frames(random))


def _mixed(found, random):
    """
    Return the frames of one sample, with some repeated, some moved, and some of another sample among them.
    """
    frames = list(random.choice(found).frames)
    if random.random() < 0.5:
        for frame in random.choice(found).frames:
            frames.insert(random.randrange(len(frames) + 1), frame)
    for _ in range(random.randrange(4)):
        at = random.randrange(len(frames))
        frames[at:at] = [frames[at]] * random.choice((1, 4, 12))
    for _ in range(random.randrange(3)):
        frames.insert(random.randrange(len(frames)), frames.pop(random.randrange(len(frames))))
    return found[0].written([(frame.name, frame.payload.decode("utf-8", "replace")) for frame in frames])
