"""
Law 14: what decoder, recorder, builder, `fold` and sessions do grows with the input and not faster. Calls and bytes are
counted, not time.
"""

import asyncio
import sys
import tracemalloc

import pytest

from assistant_events import (
    ErrorInfo,
    ErrorKind,
    JsonObject,
    OpaqueReceived,
    StepEnded,
    StepRestarted,
    StepStarted,
    TextDelta,
    TextEnded,
    TextStarted,
    ToolCalled,
    ToolInputStarted,
    ToolSuccess,
    fold,
)
from assistant_events.adapters import dialect_names, frame_templates, load_dialect
from assistant_events.adapters.gemini_interactions import GeminiInteractionsDecoder, GeminiInteractionsEmitter
from assistant_events.adapters.gemini_interactions.citations import cited
from assistant_events.converters import dumps
from assistant_events.live import MemoryLive
from assistant_events.recorder import Recorder
from assistant_events.reducer import Builder
from assistant_events.session import Session, SyncSession, Turns, run_tools
from assistant_events.stores import MemoryStore, SqliteStore
from assistant_events.testing import Call, answer, origin, prompt, records, rewind
from assistant_events.values.buffers import Buffer
from assistant_events.values.stdlib_json import spell
from assistant_events.web import ChatRoutes
from tests.adapters.growing import WIRES, frames_of
from tests.adapters.openai_chat.notation import D, F, J, stream
from tests.fuzz.growing import GROWING, body_of, bytes_of, created, decoded, start
from tests.session.scripted import Provider
from tests.web.chat import Browser, authorize

SIZE = 600


def calls_of(work):
    """
    Return how many Python and C functions *work* calls.
    """
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def started():
    recorder = Recorder("a1")
    recorder.start(origin())
    return recorder


def record_deltas(size):
    recorder = started()
    for _ in range(size):
        recorder.text("word ", key=0)
        recorder.tool_input("c1", "search", "word ", key=1)
    recorder.close()


def record_calls(call_id, key):
    def work(size):
        recorder = started()
        for number in range(size):
            at = number if key else None
            recorder.tool_input(call_id, "search", "{}", key=at)
            recorder.end_tool_input(call_id, key=at)
            recorder.tool_progress(call_id, 1, key=at)
            recorder.result(call_id, 1, key=at)
        recorder.finish("stop")

    return work


def record_open_inputs(size):
    recorder = started()
    for number in range(size):
        recorder.tool_input("c1", "search", "{}", key=number)
    for number in range(size):
        recorder.end_tool_input(key=number)
        recorder.result("c1")
    recorder.close()


def record_overlap(size):
    recorder = started()
    for number in range(size):
        recorder.reasoning("a", key=number)
    for number in range(size):
        recorder.reasoning("b", key=number)
        recorder.end_reasoning(key=number)
    recorder.finish("stop")


def rejoin(size):
    def step(recorder):
        events = recorder.start(origin())
        for number in range(size):
            events += recorder.text("word ", key=number)
            events += recorder.end_text(key=number)
        return events

    step(Recorder("a1", prior=fold(step(Recorder("a1")))["a1"]))


def fold_parts(size):
    fold(answer(calls=[Call("search", call_id=f"c{number}", output=1) for number in range(size)]))


def fold_messages(size):
    log = records([event for number in range(size) for event in (prompt(message_id=f"u{number}"),)])
    fold(log)


def answer_old_messages(size):
    events = [
        event for number in range(size) for event in answer(calls=[Call("t", call_id="c")], message_id=f"a{number}")
    ]
    events += [ToolSuccess(message_id=f"a{number}", call_id="c") for number in range(size)]
    fold(events)


def emit_open_calls(size):
    """
    Emit calls which are all open before the first of them ends, and end in the other order.
    """
    recorder = Recorder("a1")
    events = recorder.start(origin())
    ids = [f"c{number}" for number in range(size)]
    for call_id in ids:
        events += recorder.tool_input(call_id, "f", provider_executed=True)
    for call_id in reversed(ids):
        events += recorder.tool_input(call_id, "f", "{}") + recorder.end_tool_input(call_id)
    emitter = GeminiInteractionsEmitter()
    for event in [*events, *recorder.close()]:
        emitter.emit(event)
    emitter.close()


def a_message_of(calls):
    """
    Return a text that ended, many calls after it, and an answer to the last of them.
    """
    ids = [f"c{number}" for number in range(calls)]
    return [
        StepStarted(message_id="a1", origin=origin()),
        TextStarted(message_id="a1"),
        TextEnded(message_id="a1", text="Hi"),
        *[ToolCalled(message_id="a1", call_id=call_id, name="t", input={}) for call_id in ids],
        ToolSuccess(message_id="a1", call_id=ids[-1]),
    ]


def fold_late_duplicates(size):
    fold([*a_message_of(size), *[TextEnded(message_id="a1", text="Hi")] * size])


def fold_refused_ends(size):
    ends = [StepEnded(message_id="a1", finish_reason="stop")] * size
    fold([*a_message_of(size), ToolInputStarted(message_id="a1", call_id="open", name="t"), *ends])


def fold_refused_restarts(size):
    fold([*a_message_of(size), *[StepRestarted(message_id="a1", reason="")] * size])


def rewind_in_memory(size):
    store = MemoryStore()
    for number in range(size):
        store.append("s", [prompt(message_id=f"u{number}")])
    for number in reversed(range(size)):
        store.append("s", [rewind(f"u{number}")])


def converse(size):
    session = SyncSession.open(MemoryStore(), "s")
    for number in range(size):
        session.prompt("Hi")
        session.append(*[event for event in answer("Hello", message_id=f"a{number}") if event.durable])


def store_with_calls(size, owner=None):
    """
    Return a store with a session whose last answer has unanswered calls.
    """
    store = MemoryStore()
    calls = [ToolCalled(message_id="a1", call_id=f"c{number}", name="t", input={}) for number in range(size)]
    start, end = StepStarted(message_id="a1", origin=origin()), StepEnded(message_id="a1", finish_reason="tool-calls")
    store.append("s", [start, *calls, end], owner=owner)
    return store


def start_and_answer_calls(size):
    session = SyncSession.open(store_with_calls(size), "s")
    calls = session.transcript.pending_tool_calls
    for event in [*[call.start() for call in calls], *[call.succeed(1) for call in calls]]:
        session.append(event)


def run_calls(size):
    async def one(_):
        return 1

    async def work():
        await run_tools(await Session.open(store_with_calls(size), "s"), one)

    asyncio.run(work())


def watch(store, batches):
    """
    Watch the session of a store until it is the turn of the user, while a session appends batches.
    """

    async def work():
        async with MemoryLive(store, poll_s=None) as live:
            turns = Turns(store, print, client=Provider(), live=live)
            browser = Browser(ChatRoutes(turns, authorize=authorize))
            session = await Session.open(store, "s", live=live)
            async with browser.watch("/sessions/s/events?until=user") as events:
                for batch in batches:
                    await session.append(*batch)
                await events.task
                assert (await events.until("end"))[-1][2] == {"type": "end", "seq": session.seq}

    asyncio.run(work())


def watch_parts(size):
    store = MemoryStore()
    store.append("s", [StepStarted(message_id="a1", origin=origin())], owner="ada")
    texts = [[TextStarted(message_id="a1"), TextEnded(message_id="a1", text="x")]] * size
    watch(store, [*texts, [StepEnded(message_id="a1", finish_reason="stop")]])


def watch_calls_of_the_provider(size):
    store = MemoryStore()
    store.append("s", [StepStarted(message_id="a1", origin=origin())], owner="ada")
    ids = [{"message_id": "a1", "call_id": f"c{number}", "provider_executed": True} for number in range(size)]
    calls = [[ToolCalled(**each, name="t", input={}), ToolSuccess(**each)] for each in ids]
    watch(store, [*calls, [StepEnded(message_id="a1", finish_reason="stop")]])


def watch_calls_of_the_app(size):
    store = store_with_calls(size, owner="ada")
    calls = fold(store.read("s")).pending_tool_calls
    watch(store, [[call.request_approval()] for call in calls])


WORK = {
    "deltas": record_deltas,
    "calls with ids": record_calls("c1", key=False),
    "calls with keys": record_calls("c1", key=True),
    "calls without ids": record_calls(None, key=True),
    "open inputs": record_open_inputs,
    "overlapping items": record_overlap,
    "rejoining": rejoin,
    "folding calls": fold_parts,
    "folding messages": fold_messages,
    "late answers": answer_old_messages,
    "emitting calls that are open": emit_open_calls,
    "refused restarts": fold_refused_restarts,
    "rewinds in memory": rewind_in_memory,
    "calls that a session starts and answers": start_and_answer_calls,
    "calls that a session runs": run_calls,
    "turns of a session": converse,
    "parts that a browser watches": watch_parts,
    "calls of the provider that it watches": watch_calls_of_the_provider,
    "calls of the app that it watches": watch_calls_of_the_app,
}


@pytest.mark.parametrize("work", WORK.values(), ids=WORK)
def test_twice_the_input_takes_twice_the_calls(work):
    """
    Twice the input takes about twice as many function calls.
    """
    work(2)
    once, twice = (calls_of(lambda size=size: work(size)) for size in (SIZE, 2 * SIZE))

    assert twice <= 2.1 * once


def steps_of(work):
    """
    Return how many instructions of the interpreter *work* takes.
    """
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += event == "opcode"
        frame.f_trace_opcodes = True
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("work", [fold_late_duplicates, fold_refused_ends], ids=["late duplicates", "refused ends"])
def test_twice_the_input_takes_twice_the_steps(work):
    """
    Loops inside one call are counted as well: what comes late does not look at all that came before.
    """
    steps_of(lambda: work(2))  # Python 3.12 counts nothing the first time
    once, twice = (steps_of(lambda size=size: work(size)) for size in (SIZE // 4, SIZE // 2))

    assert twice <= 2.1 * once


class Hashed(str):
    """
    An id that counts how often it is looked up.
    """

    __slots__ = ()
    times = 0

    def __hash__(self):
        Hashed.times += 1
        return str.__hash__(self)

    __eq__ = str.__eq__


def look_ups(size):
    ids = [Hashed(f"u{number}") for number in range(2 * size)]
    events = [prompt(message_id=each) for each in ids[:size]]
    for each in ids[size:]:
        events += [prompt(message_id=each), rewind(each)]
    events += map(rewind, reversed(ids[:size]))
    Hashed.times = 0
    fold(events, strict=True)
    return Hashed.times


def test_a_rewind_costs_what_it_removes():
    """
    Twice as many rewinds, beside twice as many messages that stay, look up twice as many ids.
    """
    assert look_ups(2 * SIZE) <= 2.1 * look_ups(SIZE)


def append_hosted_calls(size):
    yield [StepStarted(message_id="a1", origin=origin())]
    for number in range(size):
        called = ToolCalled(message_id="a1", call_id=f"c{number}", name="t", input={}, provider_executed=True)
        yield [called]
        yield [ToolSuccess(message_id="a1", call_id=f"c{number}", provider_executed=True)]


def append_calls_of_the_app(size):
    yield [StepStarted(message_id="a1", origin=origin())]
    for number in range(size):
        yield [ToolCalled(message_id="a1", call_id=f"c{number}", name="t", input={})]
    yield [StepEnded(message_id="a1", finish_reason="tool-calls")]
    for number in range(size):
        yield [ToolSuccess(message_id="a1", call_id=f"c{number}")]


def append_rewinds(size):
    for number in range(size):
        yield [prompt(message_id=f"u{number}")]
    for number in reversed(range(size)):
        yield [rewind(f"u{number}")]
        yield [prompt(message_id=f"again{number}")]
        yield [rewind(f"again{number}")]


def instructions(batches):
    """
    Return how many instructions SQLite carries out to append *batches*, in tens.
    """
    count = 0

    def progress():
        nonlocal count
        count += 1

    with SqliteStore(":memory:") as store:
        store._writer.set_progress_handler(progress, 10)
        for batch in batches:
            store.append("s", batch)
        return count


@pytest.mark.parametrize(
    "batches",
    [append_hosted_calls, append_calls_of_the_app, append_rewinds],
    ids=["calls that the provider runs", "calls of the app", "rewinds"],
)
def test_an_append_costs_what_it_says(batches):
    """
    Twice as many batches take SQLite about twice as many instructions, whatever the session already holds.
    """
    instructions(batches(2))

    assert instructions(batches(2 * SIZE // 4)) <= 2.2 * instructions(batches(SIZE // 4))


class Spelled(str):
    """
    An id that counts how often another id is made of it.
    """

    __slots__ = ("times",)

    def __format__(self, spec):
        self.times = getattr(self, "times", 0) + 1
        return str.__format__(self, spec)


def test_an_id_that_is_used_again_and_again_is_numbered_at_once():
    """
    The next free suffix of an id is not looked for from the start each time.
    """
    call_id = Spelled("c1")
    recorder = started()
    for _ in range(SIZE):
        recorder.tool_call(call_id, "search", {})

    assert call_id.times <= 4 * SIZE


def test_a_long_key_is_not_spelled_for_each_item_below_it():
    """
    JSON is frozen without naming the place of each of its items.
    """
    texts = []
    before = sys.getprofile()
    key = "k" * 10_000

    def profile(frame, event, argument):
        texts.extend(value for value in frame.f_locals.values() if isinstance(value, str) and key in value)

    value = {key: [[at] for at in range(20)]}
    sys.setprofile(profile)
    try:
        JsonObject(value)
    finally:
        sys.setprofile(before)

    assert {key} == set(texts)


class Undivided(int):
    """
    An integer that must not be divided: that takes quadratic time.
    """

    def __divmod__(self, other):
        raise AssertionError("divided")

    __floordiv__ = __mod__ = __truediv__ = __divmod__


@pytest.mark.parametrize("digits", [4_001, 20_000, 300_000])
def test_a_huge_integer_is_written_without_division(digits):
    """
    An integer is written digit for digit, and the whole of it is never divided.
    """
    number = Undivided(10 ** (digits - 1) + 7)
    written = "1" + "0" * (digits - 2) + "7"

    assert written == spell(number)
    assert "-" + written == spell(-number)
    assert f'{{"n":{written}}}'.encode() in dumps(OpaqueReceived(message_id="a1", state={"n": number}))


class Counting(str):
    """
    An empty text that counts how many characters it joins.
    """

    __slots__ = ("joined",)

    def join(self, pieces):
        whole = str.join("", pieces)
        self.joined = getattr(self, "joined", 0) + len(whole)
        return whole


@pytest.mark.parametrize("size", [1, 127, 128, 129, 5_000, 300_000])
def test_a_buffer_copies_each_character_a_few_times(size):
    """
    Each character of a growing text is copied with the pieces around it, and once at the end.
    """
    empty = Counting()
    buffer = Buffer(empty)
    for _ in range(size):
        buffer.append("x")

    assert "x" * size == buffer.value()
    assert size == buffer.length
    assert empty.joined <= 3 * size


@pytest.mark.parametrize("singly", [False, True], ids=["together", "singly"])
@pytest.mark.parametrize("size", [2_000, 100_000])
def test_a_fold_takes_little_more_memory_than_the_text(size, singly):
    """
    Deltas that are read one by one leave little more than the text that they add up to, however they are handed over.
    """
    piece = "some words of it "

    def deltas():
        yield from answer()[:1]
        yield TextStarted(message_id="a1")
        for number in range(size):
            yield TextDelta(message_id="a1", offset=number * len(piece), delta=piece[:8] + piece[8:])

    builder = Builder()
    tracemalloc.start()
    try:
        for events in ([delta] for delta in deltas()) if singly else [deltas()]:
            builder.extend(events)
        text = builder.transcript.last.text
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert size * len(piece) == len(text)
    assert peak <= 2.2 * len(text) + 256 * 1024


# -- decoders

LINEAR = 2.5
"""Work for twice the bytes; a quadratic part at this size would give 4."""


def work(run):
    """
    Return how many functions are called and lines are run meanwhile.
    """
    count = 0

    def counted(frame, what, argument):
        nonlocal count
        count += 1
        return counted

    before = sys.gettrace()
    sys.settrace(counted)
    try:
        run()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("family", GROWING)
def test_work_grows_with_the_bytes(family):
    """
    Twice the frames are twice the work, whatever the frames are.
    """
    small, large = body_of(family, 300), body_of(family, 600)
    decoded(small)

    assert work(lambda: decoded(large)) <= LINEAR * work(lambda: decoded(small))


def called(at, metadata):
    call = {"index": at, "id": f"c{at}", "function": {"name": "f", "arguments": "{}"}, **metadata}
    return D(tool_calls=[call], chunk={"id": f"x{at}"})


OF_SERVER = {"metadata": {"tool_type": "search"}}
CHAT_GROWING = {
    "a reason behind each piece of an input": lambda n: [J("[", id="c", name="f"), *[J("1,"), F()] * n],
    "a reason behind each call": lambda n: [each for at in range(n) for each in (called(at, {}), F())],
    "a completion behind each result": lambda n: [
        each
        for at in range(n)
        for each in (
            called(at, OF_SERVER),
            D(role="tool", tool_call_id=f"c{at}", content="r", chunk={"id": f"x{at}", "usage": {"prompt_tokens": at}}),
        )
    ],
}
"""Frames of Chat Completions that servers repeat."""


@pytest.mark.parametrize("family", CHAT_GROWING)
def test_work_of_chat_grows_with_the_bytes(family, monkeypatch):
    """
    Twice the frames are twice the work, and what is joined of inputs is a few times what came.
    """

    def decode(count):
        body = stream(*CHAT_GROWING[family](count))
        decoder = load_dialect("openai-chat").decoder("m")
        return len(body), [*decoder.feed(body), *decoder.close()]

    decode(200)
    joined, value = [], Buffer.value
    monkeypatch.setattr(Buffer, "value", lambda buffer: (joined.append(buffer.length), value(buffer))[1])
    size, _ = decode(600)

    assert sum(joined) <= 4 * size
    monkeypatch.undo()
    assert work(lambda: decode(600)) <= LINEAR * work(lambda: decode(300))


# -- all wires


@pytest.mark.parametrize(
    ("name", "family"), [(name, family) for name, families in WIRES.items() for family in families]
)
def test_work_of_every_wire_grows_with_the_frames(name, family):
    """
    Twice the frames are twice the work to decode them, to write them again, and to send the answer back.
    """
    dialect = load_dialect(name)

    def decode(count):
        decoder, events = dialect.decoder("m"), []
        for frame in frames_of(name, family, count):
            events += decoder.feed_event(frame)
        return [*events, *decoder.close()]

    def emit(events):
        emitter = dialect.emitter()
        for event in events:
            emitter.emit(event)
        emitter.close()

    def steps(count):
        events = decode(count)
        messages = [*fold([prompt()]).messages, *fold(events).messages]
        return [
            work(lambda: decode(count)),
            work(lambda: emit(events)),
            work(lambda: dialect.encoder(messages, {"model": "m", "modelId": "m"})),
        ]

    steps(2)
    assert all(twice <= 2.2 * once for once, twice in zip(steps(150), steps(300), strict=True))


CONVERSATIONS = {
    "prompts": lambda n: [prompt(message_id=f"u{at}") for at in range(n)],
    "answers with calls": lambda n: [
        event for at in range(n) for event in answer("a", calls=[Call("t", output=1)], message_id=f"a{at}")
    ],
    "calls of one answer": lambda n: answer(calls=[Call("t", call_id=f"c{at}", output=1) for at in range(n)]),
    "calls without answers": lambda n: answer(calls=[Call("t", call_id=f"c{at}") for at in range(n)]),
    "answers that were cut": lambda n: [event for at in range(n) for event in cut(at, "a")],
    "answers that were cut before a text": lambda n: [event for at in range(n) for event in cut(at, "")],
}
"""Conversations that grow behind a prompt."""


def cut(at, text):
    return answer(text, error=ErrorInfo(kind=ErrorKind.NETWORK, message="reset"), message_id=f"a{at}")


@pytest.mark.parametrize("family", CONVERSATIONS)
@pytest.mark.parametrize("name", dialect_names())
def test_work_of_an_encoder_grows_with_the_conversation(name, family):
    """
    Twice the messages, or twice the calls, are twice the work.
    """

    def encode(count):
        messages = fold([prompt(), *CONVERSATIONS[family](count)]).messages
        return work(lambda: load_dialect(name).encoder(messages, {"model": "m", "modelId": "m"}))

    encode(2)

    assert encode(240) <= 2.2 * encode(120)


@pytest.mark.parametrize(("name", "provider"), [("anthropic-messages", "anthropic"), ("bedrock-converse", "bedrock")])
def test_work_of_an_encoder_grows_with_a_turn_of_two_models(name, provider):
    """
    Claude with its thoughts and another model without any call tools in turn; with thinking, Claude is asked again.
    """
    model = "anthropic.claude-sonnet-4-5"
    claude = origin(provider, model, name)
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 2000}}
    body = {"model": model, "modelId": model, "toolConfig": {"tools": []}, **thinking}
    body["additionalModelRequestFields"] = thinking

    def thought(at):
        return {"origin": claude, "reasoning": "hm", "reasoning_state": {"i": 0, "signature": "c2ln"}} if at % 2 else {}

    def encode(count):
        answers = [answer(calls=[Call("t", output=1)], message_id=f"a{at}", **thought(at)) for at in range(count)]
        messages = fold([prompt(), *[event for events in answers for event in events]]).messages
        return work(lambda: load_dialect(name).encoder(messages, body))

    encode(2)

    assert encode(240) <= 2.2 * encode(120)


@pytest.mark.parametrize("family", ["text", "calls of one id", "citations", "restarts"])
def test_work_of_a_rejoin_grows_with_the_bytes(family):
    """
    So it is for a replay that is compared with what was recorded.
    """

    def rejoined(count):
        body = body_of(family, count, ended=False)
        decoder = GeminiInteractionsDecoder("m")
        decoder.feed(body)
        decoder.rejoin()
        return work(lambda: decoder.feed(body))

    rejoined(100)

    assert rejoined(600) <= LINEAR * rejoined(300)


@pytest.mark.parametrize("family", GROWING)
def test_no_text_is_joined_again_and_again(family, monkeypatch):
    """
    What is joined of texts, inputs and media is a few times what came, whatever the frames are.
    """
    body = body_of(family, 600)
    joined = 0
    value = Buffer.value

    def counted(buffer):
        nonlocal joined
        whole = value(buffer)
        joined += len(whole)
        return whole

    monkeypatch.setattr(Buffer, "value", counted)
    decoded(body)

    assert joined <= 4 * len(body)


@pytest.mark.parametrize("family", ["indexes with one hash", "negative indexes with one hash"])
def test_no_index_is_looked_for_among_others_of_its_hash(family):
    """
    Indexes whose hashes are all alike are distinguished by their text, whose hashes cannot be chosen.
    """
    decoder = GeminiInteractionsDecoder("m")
    decoder.feed(body_of(family, SIZE, ended=False))

    assert SIZE == len(decoder._steps)
    assert SIZE - 5 <= len({hash(index) for index in decoder._steps})


def test_a_frame_without_a_template_is_parsed_a_few_times(monkeypatch):
    """
    A frame that names the key of its text again and again is not tried at each of them.
    """
    parsed = 0
    read_json = frame_templates.read_json

    def counted(data, **more):
        nonlocal parsed
        parsed += len(data)
        return read_json(data, **more)

    monkeypatch.setattr(frame_templates, "read_json", counted)
    texts = ",".join('"text":"a"' for _ in range(350))
    frame = f'{{"event_type":"step.delta","index":0,"delta":{{{texts},"type":"text"}}}}'
    events = decoded(bytes_of([frame] * 3))

    assert "aaa" == fold(events).last.text
    assert 0 < parsed <= 5 * len(frame)


def test_replays_of_a_hop_are_not_looked_for_among_all_hops():
    """
    Which hop a replay is of is known at once, however many there are and however often it begins.
    """

    def replayed(count):
        prior = fold(GeminiInteractionsDecoder("m").feed(body_of("hops", count, ended=False))).messages
        again = GeminiInteractionsDecoder("m", prior=prior)
        body = bytes_of([*created(1), start(0, "thought")] * count)
        return work(lambda: again.feed(body))

    replayed(100)

    assert replayed(600) <= LINEAR * replayed(300)


class Offset(int):
    """
    A place in a text that counts how often it is compared with another of its hash.
    """

    compared = 0

    def __eq__(self, other):
        Offset.compared += 1
        return int(self) == int(other)

    __hash__ = int.__hash__


def test_places_outside_of_a_text_are_not_compared():
    """
    Places that are none may be numbers whose hashes are all alike.
    """
    offsets = [Offset(number * ((1 << 61) - 1)) for number in range(1, SIZE)]
    found = cited([{"end_index": offset} for offset in offsets], "text")

    assert [None] * (SIZE - 1) == [each.end for each in found]
    assert Offset.compared <= 2 * SIZE
