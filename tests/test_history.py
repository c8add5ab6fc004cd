"""
Which state is sent to whom: tables of policies cell by cell, and the rules that hold for every policy.
"""

import re

import attrs
import pytest

from assistant_events import history
from assistant_events.adapters import claude, load_dialect
from assistant_events.adapters.gemini_interactions.policy import POLICY
from assistant_events.history import (
    DEFAULT_POLICY,
    REASONS,
    Drop,
    DropReason,
    Policy,
    Relation,
    Subject,
    Treatment,
    Treatments,
)
from assistant_events.messages import (
    AssistantMessage,
    CallStatus,
    CompactionMessage,
    MediaPart,
    MessageStatus,
    OpaquePart,
    PartStatus,
    ReasoningPart,
    TextPart,
    ToolPart,
    UserMessage,
)
from assistant_events.recorder import Recorder
from assistant_events.reducer import fold
from assistant_events.testing import Call, answer, compaction, error, prompt
from assistant_events.values import ErrorKind, JsonObject, Origin, RemoteRun, State

INTERACTIONS, RESPONSES, CLAUDE, CHAT = "gemini-interactions", "openai-responses", "anthropic-messages", "openai-chat"
UNHEARD_OF = "unheard-of"

_BARE, _UNBOUND, _LEFT_OUT = Treatment.BARE, Treatment.UNBOUND, Treatment.LEFT_OUT
POLICIES = {
    INTERACTIONS: POLICY,
    CLAUDE: Policy(
        other_model=Treatments(step=_BARE, reasoning=_LEFT_OUT, opaque=_LEFT_OUT),
        reasoning_needs_any=("signature", "data"),
    ),
    CHAT: Policy(
        other_model=Treatments(
            step=_BARE, reasoning=_UNBOUND, call=_UNBOUND, provider_call=_LEFT_OUT, opaque=_LEFT_OUT
        ),
        model_bound_keys=frozenset({"details", "extra_content"}),
    ),
    RESPONSES: Policy(
        other_model=Treatments(
            step=_BARE,
            text=_UNBOUND,
            reasoning=_LEFT_OUT,
            media=_UNBOUND,
            call=_UNBOUND,
            provider_call=_LEFT_OUT,
            opaque=_LEFT_OUT,
        ),
        reasoning_needs_any=("encrypted_content",),
        item_key="item_id",
        model_bound_keys=frozenset({"item_id"}),
        items_reference_each_other=True,
    ),
    UNHEARD_OF: DEFAULT_POLICY,
}
"""The policy of an installed dialect, one of every other shape, and the default."""

SIGNED = State(
    signature="sig+/=",
    encrypted_content="enc",
    item_id="rs_1",
    i=0,
    details=[{"data": "d"}],
    extra_content={"google": {"thought_signature": "t"}},
    field="reasoning_content",
)
"""A state with every key that any rule names."""

CUT = PartStatus.INCOMPLETE


def origin(dialect, provider="acme", model="m1"):
    return Origin(provider=provider, model=model, dialect=dialect)


def text(state=SIGNED, text="Hello", status="completed"):
    return TextPart(text=text, status=status, state=state)


def reasoning(state=SIGNED, text="hm", status="completed"):
    return ReasoningPart(text=text, status=status, state=state)


def media(state=SIGNED, status="completed"):
    return MediaPart(media_type="image/png", data=b"pixels", status=status, state=state)


def call(state=SIGNED, **changes):
    given = {"status": CallStatus.SUCCESS, "input": JsonObject(city="Oslo"), "output": "rain", **changes}
    return ToolPart(message_id="a1", call_id="c1", name="weather", state=state, result_state=state, **given)


def provider_call(state=SIGNED, **changes):
    return call(state, provider_executed=True, **changes)


def opaque(state=SIGNED):
    return OpaquePart(state=state)


def message(*parts, dialect=INTERACTIONS, **changes):
    """A completed answer of model m1 of acme."""
    given = {"status": MessageStatus.COMPLETED, "origin": origin(dialect), **changes}
    return AssistantMessage(id="a1", parts=parts, **given)


def failed(*parts, **changes):
    return message(*parts, status=MessageStatus.FAILED, error=error(), **changes)


def select(conversation, target, **more):
    """Select with the policy of the target's dialect, unless another is given."""
    return history.select(conversation, target, **{"policy": POLICIES.get(target.dialect, DEFAULT_POLICY), **more})


def chosen(answer, **more):
    """Return the parts of an answer that are sent to its own issuer, and the drops."""
    selection = select([answer], answer.origin, **more)
    return list(selection.messages[0].parts), [(drop.part, drop.reason) for drop in selection.drops]


# -- the table

MAKE = {
    Subject.TEXT: text,
    Subject.REASONING: reasoning,
    Subject.MEDIA: media,
    Subject.CALL: call,
    Subject.PROVIDER_CALL: provider_call,
    Subject.OPAQUE: opaque,
}
ORDER = (Subject.STEP, *MAKE)
RELATIONS = {
    Relation.SAME_ORIGIN: {},
    Relation.OTHER_MODEL: {"model": "m2"},
    Relation.OTHER_PROVIDER: {"provider": "rival"},
}
LETTERS = {"W": Treatment.WHOLE, "U": Treatment.UNBOUND, "B": Treatment.BARE, "-": Treatment.LEFT_OUT}

# Step, text, reasoning, media, call, provider's call, opaque; to another model, and to another provider.
TABLE = {
    "anthropic-messages": ("BW-WWW-", "BB-BB--"),
    "gemini-interactions": ("BWWWWWW", "BB-BB--"),
    "openai-chat": ("BWUWU--", "BB-BB--"),
    "openai-responses": ("BU-UU--", "BB-BB--"),
    UNHEARD_OF: ("BBBBB--", "BB-BB--"),
}
CELLS = [
    pytest.param(dialect, relation, subject, LETTERS[letter], id=f"{dialect}, {relation}, {subject}")
    for dialect, row in TABLE.items()
    for relation, letters in zip(RELATIONS, ("WWWWWWW", *row), strict=True)
    for subject, letter in zip(ORDER, letters, strict=True)
]
BOUND = {"openai-chat": {"details", "extra_content"}, "openai-responses": {"item_id"}}
WHY = {
    Relation.OTHER_MODEL: DropReason.OTHER_MODEL,
    Relation.OTHER_PROVIDER: DropReason.OTHER_PROVIDER,
}


def left(state, treatment, dialect):
    """What a treatment leaves of a state."""
    match treatment:
        case Treatment.WHOLE:
            return state
        case Treatment.UNBOUND:
            return State({key: value for key, value in state.items() if key not in BOUND[dialect]})
        case _:
            return State()


@pytest.mark.parametrize(("dialect", "relation", "subject", "treatment"), CELLS)
def test_cells(dialect, relation, subject, treatment):
    """
    Each cell of the table is what `select` does, with the reason of its column.
    """
    target = origin(dialect, **RELATIONS[relation])
    if subject is Subject.STEP:
        given = message(state=SIGNED, run=RemoteRun(id="r1", kind="interaction"), dialect=dialect)
        state = left(SIGNED, treatment, dialect)
        expected = attrs.evolve(given, state=state, run=given.run if state else None)
    else:
        part = MAKE[subject]()
        given = message(part, dialect=dialect)
        state = left(SIGNED, treatment, dialect)
        changes = {"state": state, "result_state": state} if isinstance(part, ToolPart) else {"state": state}
        kept = () if treatment is Treatment.LEFT_OUT else (attrs.evolve(part, **changes),)
        expected = attrs.evolve(given, parts=kept)
    selection = select([given], target)
    place, whole = None if subject is Subject.STEP else 0, treatment is Treatment.LEFT_OUT
    drops = () if treatment is Treatment.WHOLE else (Drop("a1", place, WHY[relation], whole=whole),)

    assert (expected,) == selection.messages
    assert drops == selection.drops


# -- who issued it


def test_another_dialect_of_the_same_provider_is_another_provider():
    """
    State of one wire format means nothing in another.
    """
    selection = select([message(text())], origin(CLAUDE))

    assert (Drop("a1", 0, DropReason.OTHER_PROVIDER),) == selection.drops


def test_the_served_model_plays_no_part():
    """
    Origins are compared by the model that was asked for.
    """
    answer = message(reasoning())
    target = attrs.evolve(answer.origin, served_model="m1-2026")

    assert (answer,) == select([answer], target).messages


def test_readers():
    """
    Models that read each other's state, as an app knows, are one model.
    """
    answer = message(reasoning(), dialect=CLAUDE)
    policy = attrs.evolve(POLICIES[CLAUDE], interchangeable_models=(frozenset({"m1", "m2"}),))

    assert (answer,) == select([answer], origin(CLAUDE, model="m2"), policy=policy).messages
    assert () == select([answer], origin(CLAUDE, model="m3"), policy=policy).messages[0].parts


def test_rules_of_the_app():
    """
    Rules that are given take the place of those of the dialect.
    """
    answer = message(reasoning())
    policy = Policy(other_model=Treatments(reasoning=Treatment.BARE))

    assert (reasoning(State()),) == select([answer], origin(INTERACTIONS, model="m2"), policy=policy).messages[0].parts


# -- how its step ended


def test_a_failed_step_goes_as_what_was_said():
    """
    Of a failed step text and media go, without state; nothing of the provider's own does.
    """
    kept, drops = chosen(failed(reasoning(), text(), media(), opaque(), provider_call()))

    assert [text(State()), media(State())] == kept
    assert [(place, DropReason.UNFINISHED) for place in range(5)] == drops


def test_a_running_step_goes_like_a_failed_one():
    """
    A step that has not ended has not completed.
    """
    kept, drops = chosen(message(reasoning(), text(status="streaming"), status="running"))

    assert [text(State(), status="streaming")] == kept
    assert [(0, DropReason.UNFINISHED), (1, DropReason.UNFINISHED)] == drops


def test_the_run_alone_is_not_reported():
    """
    The run of a failed step is removed; without state of the message there is nothing to report.
    """
    selection = select([failed(text({}), run=RemoteRun(id="r1", kind="interaction"))], origin(INTERACTIONS))

    assert (None, ()) == (selection.messages[0].run, selection.drops)


@pytest.mark.parametrize(
    ("state", "reported"),
    [
        ({"i": 0}, []),
        ({"i": 0, "signature": "s"}, [0]),
        ({"i": 0, "content_index": 0}, [0]),
        ({"signature": "s"}, [0]),
        ({"flag": True}, [0]),
    ],
    ids=["number", "number and signature", "number and place", "signature", "flag"],
)
def test_the_number_of_an_item_is_not_reported(state, reported):
    """
    A state that has only the number of an item is removed without a report.
    """
    for part in (text(state), call(state), attrs.evolve(call({}), result_state=state)):
        selection = select([message(part)], origin(CLAUDE))

        assert State() == selection.messages[0].parts[0].state
        assert reported == [drop.part for drop in selection.drops]


def test_a_failed_step_loses_its_own_state():
    """
    The response of a failed step is nothing to go on from.
    """
    selection = select([failed(state=SIGNED, run=RemoteRun(id="r1", kind="interaction"))], origin(INTERACTIONS))

    assert (State(), None) == (selection.messages[0].state, selection.messages[0].run)
    assert (Drop("a1", None, DropReason.UNFINISHED),) == selection.drops


UNANSWERED = {
    "interrupted": call(status="failed", error=error(ErrorKind.INTERRUPTED), output=()),
    "waiting": call(status="called", output=()),
    "cut": call(status="failed", error=error(ErrorKind.INTERRUPTED), input=None, input_status=CUT, output=()),
    "invalid": call(status="failed", error=error(ErrorKind.INVALID_INPUT), input=None, output=()),
}


@pytest.mark.parametrize("part", UNANSWERED.values(), ids=UNANSWERED)
def test_calls_of_a_failed_step_that_nobody_answered(part):
    """
    They were not to be run, so they do not go.
    """
    assert ([], [(0, DropReason.UNANSWERED)]) == chosen(failed(part))


@pytest.mark.parametrize("changes", [{}, {"status": "failed", "error": error(ErrorKind.TOOL)}], ids=["well", "badly"])
def test_calls_of_a_failed_step_that_the_app_answered(changes):
    """
    The tool was run, so the call is sent with its answer, without state.
    """
    assert ([call(State(), **changes)], [(0, DropReason.UNFINISHED)]) == chosen(failed(call(**changes)))


COMPLETED_CALLS = {**UNANSWERED, "answered": call(), "cancelled": call(status="failed", error=error("cancelled"))}


@pytest.mark.parametrize("part", COMPLETED_CALLS.values(), ids=COMPLETED_CALLS)
def test_calls_of_a_completed_step_stay(part):
    """
    Encoders see every call of a completed step, and repair what cannot be sent.
    """
    kept, _ = chosen(message(part))

    assert ["c1"] == [each.call_id for each in kept]


# -- what was cut


def test_a_text_that_was_cut_loses_its_state():
    """
    Its text stays.
    """
    assert ([text(State(), status=CUT)], [(0, DropReason.INCOMPLETE)]) == chosen(message(text(status=CUT)))


def test_a_medium_that_was_cut_is_left_out():
    """
    Half a picture is none.
    """
    assert ([], [(0, DropReason.INCOMPLETE)]) == chosen(message(media(status=CUT)))


def test_an_input_that_was_cut_loses_its_state():
    """
    The call stays for the encoder.
    """
    kept, drops = chosen(message(call(status="failed", error=error(), input=None, input_status=CUT)))

    assert [(State(), State())] == [(part.state, part.result_state) for part in kept]
    assert [(0, DropReason.INCOMPLETE)] == drops


def test_a_call_of_the_provider_that_was_cut_is_left_out():
    """
    Without state the provider cannot be given a call of its own.
    """
    part = provider_call(status="failed", error=error(), input=None, input_status=CUT)

    assert ([], [(0, DropReason.INCOMPLETE)]) == chosen(message(part))


def test_nothing_is_dropped_twice():
    """
    Of several limits the first gives the reason: issuer, end of the step, cut.
    """
    selection = select([failed(text(status=CUT))], origin(INTERACTIONS, provider="rival"))

    assert (Drop("a1", 0, DropReason.OTHER_PROVIDER),) == selection.drops


def test_the_strictest_rule_holds():
    """
    A later rule that forbids more has the last word.
    """
    selection = select([failed(reasoning(), dialect=CHAT)], origin(CHAT, model="m2"))

    assert (Drop("a1", 0, DropReason.UNFINISHED, whole=True),) == selection.drops


# -- what signs reasoning


SIGNATURES = {
    "gemini-interactions": ["signature"],
    "anthropic-messages": ["signature", "data"],
    "openai-responses": ["encrypted_content"],
}


@pytest.mark.parametrize(
    ("dialect", "key"), [(dialect, key) for dialect, keys in SIGNATURES.items() for key in keys], ids=str
)
def test_reasoning_goes_with_what_signs_it(dialect, key):
    """
    One of the keys that the dialect wants is enough.
    """
    part = reasoning({key: "s"})

    assert ([part], []) == chosen(message(part, dialect=dialect))


@pytest.mark.parametrize("state", [{}, {"signature": ""}, {"other": "s"}], ids=str)
@pytest.mark.parametrize("dialect", SIGNATURES)
def test_reasoning_without_it_does_not_go(dialect, state):
    """
    An empty signature is none.
    """
    assert ([], [(0, DropReason.UNSIGNED)]) == chosen(message(reasoning(state), dialect=dialect))


@pytest.mark.parametrize("dialect", sorted({*TABLE} - {*SIGNATURES}))
def test_reasoning_that_needs_no_signature(dialect):
    """
    Where the dialect requires no signature, reasoning is sent whole.
    """
    part = reasoning({})

    assert ([part], []) == chosen(message(part, dialect=dialect))


@pytest.mark.parametrize(("model", "kept"), [("m1", True), ("m2", False)])
def test_reasoning_of_a_server_that_does_not_sign(model, kept):
    """
    It is sent back to its own model; to another one it is reasoning without a signature, as everywhere.
    """
    platforms = history.Platforms(origins=frozenset({("acme-cloud", CLAUDE)}), keys=frozenset({"signature"}))
    policy = Policy(reasoning_needs_any=("signature",), platforms=platforms)
    answer = message(reasoning({}), text({}), dialect=CLAUDE)
    selection = select([answer], attrs.evolve(answer.origin, model=model), policy=policy)

    assert [reasoning({}), text({})][not kept :] == list(selection.messages[0].parts)


PLATFORMS = history.Platforms(
    origins=frozenset({("acme", CLAUDE), ("acme-cloud", CLAUDE)}),
    keys=frozenset({"signature"}),
    affixes=re.compile(r"^cloud\."),
)


@pytest.mark.parametrize(
    ("provider", "model", "relation"),
    [
        ("acme-cloud", "cloud.m1", Relation.SAME_MODEL),
        ("acme-cloud", "m2", Relation.OTHER_PROVIDER),
        ("acme-cloud", None, Relation.OTHER_PROVIDER),
        ("elsewhere", "m1", Relation.OTHER_PROVIDER),
        ("acme", "cloud.m1", Relation.SAME_ORIGIN),
        ("acme", "m2", Relation.OTHER_MODEL),
    ],
)
def test_platforms_of_one_model(provider, model, relation):
    """
    A model is the same on each of them, whatever they add to its name; an unknown one is not.
    """
    issuer, other = [Origin(provider=p, model=m, dialect=CLAUDE) for p, m in (("acme", "m1"), (provider, model))]
    policy = Policy(platforms=PLATFORMS)

    assert (relation, relation) == (policy.relation(issuer, other), policy.relation(other, issuer))


def test_reasoning_that_has_nothing_but_its_id():
    """
    Without the storage of its provider it needs more than that; other keys of the policy stay.
    """
    policy = Policy(reasoning_needs_any=("item_id", "encrypted_content"), storage_key="item_id")

    assert ("encrypted_content",) == policy.without_storage().reasoning_needs_any
    assert policy.without_storage() == attrs.evolve(policy, reasoning_needs_any=("encrypted_content",))


def test_only_calls_of_the_provider_have_its_result():
    """
    A result of the app is not one of the provider; nor is the failure of a call that was given none.
    """
    failures = {"status": CallStatus.FAILED, "error": error(ErrorKind.NO_RESULT)}
    parts = {
        "result without a state": provider_call({}),
        "error with a state": provider_call(**failures),
        "error of the provider": provider_call({}, **failures | {"error": error(ErrorKind.PROVIDER)}),
        "none given": provider_call({}, **failures),
        "none yet": provider_call({}, status=CallStatus.CALLED, output=()),
        "of the app": call(),
    }

    assert ["result without a state", "error with a state", "error of the provider"] == [
        name for name, part in parts.items() if history.has_result(part)
    ]


def test_parts_of_one_item_are_signed_together():
    """
    When one part of an item of the provider has the signature, the others go with it.
    """
    first, last = reasoning({"item_id": "rs_1"}, "one"), reasoning({"item_id": "rs_1", "encrypted_content": "e"}, "two")

    assert ([first, last], []) == chosen(message(first, last, dialect=RESPONSES))


def test_parts_of_no_item_are_signed_alone():
    """
    A part that belongs to no item is not signed by another one.
    """
    signed, alone = reasoning({"signature": "s"}, "one"), reasoning({}, "two")

    assert ([signed], [(1, DropReason.UNSIGNED)]) == chosen(message(signed, alone))


def test_a_signature_that_was_cut_signs_nothing():
    """
    A part that was cut does not speak for the others of its item.
    """
    parts = reasoning({"i": 0}, "one"), reasoning({"i": 0, "signature": "s"}, "two", CUT)

    assert ([], [(0, DropReason.UNSIGNED), (1, DropReason.INCOMPLETE)]) == chosen(message(*parts))


# -- items that refer to each other


def test_linked_items_lose_their_ids_together():
    """
    When a reasoning cannot be sent, the other items of its step are sent as to another model.
    """
    parts = (
        reasoning({"item_id": "rs_1"}),
        reasoning({"item_id": "rs_2", "encrypted_content": "e"}),
        text({"item_id": "msg_1", "phase": "commentary"}),
        call({"item_id": "fc_1"}),
        provider_call({"item": {"id": "ws_1"}}),
    )
    kept, drops = chosen(message(*parts, dialect=RESPONSES))

    assert [text({"phase": "commentary"}), call({})] == kept
    assert [
        (0, DropReason.UNSIGNED),
        (1, DropReason.LINKED),
        (2, DropReason.LINKED),
        (3, DropReason.LINKED),
        (4, DropReason.LINKED),
    ] == drops


def test_linked_items_keep_the_state_of_the_step():
    """
    The response as the provider has it is whole, so going on from it stays possible.
    """
    answer = message(reasoning({"item_id": "rs_1"}), state={"response_id": "resp_1"}, dialect=RESPONSES)

    assert {"response_id": "resp_1"} == select([answer], answer.origin).messages[0].state


def test_an_empty_part_breaks_no_link():
    """
    What holds nothing is missed by nothing.
    """
    part = reasoning({"item_id": "rs_1", "encrypted_content": "e"})

    assert ([part], [(1, DropReason.EMPTY)]) == chosen(message(part, text({}, ""), dialect=RESPONSES))


def test_other_messages_keep_their_links():
    """
    Only the items of one step refer to each other.
    """
    whole = attrs.evolve(message(reasoning({"encrypted_content": "e"}), dialect=RESPONSES), id="a0")
    selection = select([whole, message(reasoning({}), dialect=RESPONSES)], origin(RESPONSES))

    assert whole == selection.messages[0]


# -- nothing


def test_a_part_that_cannot_be_sent_without_others():
    """
    It is left out as linked where items do not reference each other, and takes nothing along.
    """
    parts, drops = chosen(message(text(), reasoning()), unlinked=[0])

    assert ([reasoning()], [(0, DropReason.LINKED)]) == (parts, drops)


def test_empty_parts_are_left_out():
    """
    A text or reasoning without text and state is empty.
    """
    assert ([], [(0, DropReason.EMPTY), (1, DropReason.EMPTY)]) == chosen(
        message(text({}, ""), reasoning({}, ""), dialect=CHAT)
    )


def test_a_text_with_nothing_but_its_item_is_empty():
    """
    The key of an item alone is not worth sending.
    """
    assert ([], [(0, DropReason.EMPTY)]) == chosen(message(text({"i": 0}, "")))


def test_blank_text_is_text():
    """
    Nothing is trimmed: providers check what they signed.
    """
    assert ([text({}, "\n\n")], []) == chosen(message(text({}, "\n\n")))


def test_a_text_that_was_only_state():
    """
    Without its state nothing is left of it, for the reason for which the state may not go.
    """
    selection = select([message(text({"signature": "s"}, ""))], origin(CLAUDE))

    assert (Drop("a1", 0, DropReason.OTHER_PROVIDER, whole=True),) == selection.drops


# -- strip


def test_strip():
    """
    The escape hatch leaves no state anywhere, also where everything would be in order.
    """
    answer = message(reasoning(), text(), media(), call(), provider_call(), opaque(), state=SIGNED)
    selection = select([answer], answer.origin, strip=True)

    assert (text(State()), media(State()), call(State())) == selection.messages[0].parts
    assert State() == selection.messages[0].state
    assert {DropReason.STRIPPED} == {drop.reason for drop in selection.drops}


def test_strip_keeps_reasoning_that_needs_no_signature():
    """
    Reasoning itself is content, not state.
    """
    assert ([reasoning({})], [(0, DropReason.STRIPPED)]) == chosen(message(reasoning(), dialect=CHAT), strip=True)


# -- conversations


def test_what_the_user_said_goes():
    """
    Prompts have no state.
    """
    said = UserMessage(id="u1", content="hi")

    assert ((said,), ()) == (select([said], origin(CHAT)).messages, select([said], origin(CHAT)).drops)


def test_a_transcript_goes_from_its_last_summary_on():
    """
    Of a transcript its context is taken.
    """
    transcript = fold([prompt(), *answer("Hello"), *compaction("so far"), prompt("more", message_id="u2")])

    assert ["c1", "u2"] == [each.id for each in select(transcript, origin(CHAT)).messages]


def test_a_summary_that_is_not_written():
    """
    A summary that failed, or is running, replaces no messages.
    """
    running = CompactionMessage(id="c1", reason="auto", status="running", text="so ")
    selection = select([running, attrs.evolve(running, id="c2", status="failed")], origin(CHAT))

    assert () == selection.messages
    assert (
        Drop("c1", None, DropReason.UNFINISHED, whole=True),
        Drop("c2", None, DropReason.UNFINISHED, whole=True),
    ) == selection.drops


@pytest.mark.parametrize(
    ("issuer", "reason"),
    [(origin(CHAT), None), (origin(CLAUDE), DropReason.OTHER_PROVIDER), (None, DropReason.OTHER_PROVIDER)],
    ids=["same origin", "other", "unknown"],
)
@pytest.mark.parametrize("state", [SIGNED, State()], ids=["state", "no state"])
def test_the_state_of_a_summary(issuer, reason, state):
    """
    The state of a summary is sent to its issuer only, its text to every model; without one nothing is reported.
    """
    summary = CompactionMessage(id="c1", reason="auto", status="completed", text="so far", state=state, origin=issuer)
    selection = select([summary], origin(CHAT))

    assert "so far" == selection.messages[0].text
    assert ([] if reason is None or not state else [reason]) == [drop.reason for drop in selection.drops]
    assert (state if reason is None else State()) == selection.messages[0].state


def test_places():
    """
    Encoders that drop more know the index of each part.
    """
    selection = select(
        [UserMessage(id="u1", content="hi"), message(reasoning({}), text(), reasoning(), call())], origin(INTERACTIONS)
    )

    assert ((), (1, 2, 3)) == selection.places


def test_nothing_is_changed_when_nothing_is_left_out():
    """
    The answer of one step is sent to its own model whole, and the transcript is not changed.
    """
    answered = fold(answer("Hello", reasoning="hm", reasoning_state={"signature": "s"}, calls=[Call("weather")]))
    selection = select(answered, answered.last.origin)

    assert answered.messages == selection.messages
    assert () == selection.drops


# -- the list of the model that the events descend from: behaviours 46 to 51

COLUMNS = {
    "full": lambda *parts: (message(*parts, dialect=CLAUDE), {}),
    "failed": lambda *parts: (failed(*parts, dialect=CLAUDE), {}),
    "other model": lambda *parts: (message(*parts, dialect=CLAUDE), {"model": "m2"}),
    "other provider": lambda *parts: (message(*parts, dialect=CLAUDE), {"provider": "rival"}),
}
FILTER = {
    "text": (text, ["whole", "bare", "whole", "bare"]),
    "reasoning": (reasoning, ["whole", None, None, None]),
    "call": (call, ["whole", "bare", "whole", "bare"]),
    "answer": (call, ["whole", "bare", "whole", "bare"]),
    "provider's call": (provider_call, ["whole", None, "whole", None]),
    "provider's result": (provider_call, ["whole", None, "whole", None]),
}


@pytest.mark.parametrize(
    ("row", "column", "expected"),
    [(row, column, one) for row, (_, cells) in FILTER.items() for column, one in zip(COLUMNS, cells, strict=True)],
)
def test_46_the_filter(row, column, expected):
    """
    All 24 cells of the filter, as our rules have them for Claude.
    """
    answer, elsewhere = COLUMNS[column](FILTER[row][0]())
    parts = select([answer], origin(CLAUDE, **elsewhere)).messages[0].parts
    states = [part.result_state if row in {"answer", "provider's result"} else part.state for part in parts]

    assert {"whole": [SIGNED], "bare": [State()], None: []}[expected] == states


@pytest.mark.parametrize("dialect", TABLE)
def test_47_interrupted_reasoning_never_gives_back_its_state(dialect):
    """
    Not even to the model that wrote it.
    """
    kept, drops = chosen(message(reasoning(status=CUT), dialect=dialect))

    assert [] == [part for part in kept if part.state]
    assert [(0, DropReason.INCOMPLETE)] == drops


@pytest.mark.parametrize("dialect", TABLE)
def test_48_empty_reasoning_survives_with_state_only(dialect):
    """
    Its state is worth keeping; without one nothing is left.
    """
    with_state, _ = chosen(message(reasoning(text=""), dialect=dialect))
    without, _ = chosen(message(reasoning({}, ""), dialect=dialect))

    assert ([reasoning(text="")], []) == (with_state, without)


def test_49_two_reasonings_of_one_item_stay_two():
    """
    They keep their order and are not merged here.
    """
    parts = [reasoning({"item_id": "rs_1", "encrypted_content": "e"}, each) for each in ("one", "two")]
    kept, _ = chosen(message(*parts, dialect=RESPONSES))

    assert parts == kept


@pytest.mark.parametrize(
    "parts",
    [
        [reasoning({"type": "redacted_thinking", "data": "d"}, ""), text({})],
        [text({"thoughtSignature": "s"}), text({"thoughtSignature": "s"}, "")],
        [call({"thoughtSignature": "s"}), call({})],
    ],
    ids=["redacted reasoning", "signature on text", "signature on the first of parallel calls"],
)
@pytest.mark.parametrize("dialect", [CLAUDE, CHAT])
def test_50_signatures_wherever_they_stand(parts, dialect):
    """
    They go back at the place where they came.
    """
    assert (parts, []) == chosen(message(*parts, dialect=dialect))


def test_51_state_that_names_another_provider():
    """
    Nothing is nested under a provider's name, so no key decides whose a state is: the origin does.
    """
    part = text({"openai": {"itemId": "x"}, "anthropic": {"signature": "s"}})

    assert ([part], []) == chosen(message(part))


# -- texts


def test_every_reason_is_a_sentence():
    """
    Each reason has a sentence.
    """
    assert {*DropReason} == {*REASONS}
    assert {
        *("other-model", "other-provider", "unfinished", "unanswered", "incomplete", "unsigned", "linked", "empty"),
        *("stripped", "unplaced", "unsupported", "uncalled", "no-answer", "reworded", "placeholder"),
    } == {*REASONS}
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in REASONS.values())


SAID = {
    Drop("a1", 2, DropReason.OTHER_MODEL): (
        "state of part 2 of message 'a1' left out: It was issued by another model of the same provider."
    ),
    Drop("a1", 0, DropReason.INCOMPLETE, whole=True): (
        "part 0 of message 'a1' left out: It was cut, and its state may be incomplete."
    ),
    Drop("a1", 1, DropReason.UNSUPPORTED): (
        "content of part 1 of message 'a1' left out: The request cannot hold content of this kind."
    ),
    Drop("u1", None, DropReason.UNSUPPORTED, whole=True): (
        "message 'u1' left out: The request cannot hold content of this kind."
    ),
    Drop("a1", None, DropReason.STRIPPED): (
        "state of message 'a1' left out: The caller asked for the conversation without state, or the provider has "
        "refused to read what is before its refusal."
    ),
    Drop("a1", 4, DropReason.NO_ANSWER): (
        "part 4 of message 'a1' repaired: Every call that is sent needs an answer, and this has none; the request "
        "reports that."
    ),
    Drop("a1", 3, "The wire has no place.", whole=True): "part 3 of message 'a1' left out: The wire has no place.",
}


@pytest.mark.parametrize(("drop", "expected"), SAID.items(), ids=lambda value: str(value)[:20])
def test_a_drop_in_words(drop, expected):
    """
    The text of a drop names place and reason, and shows no content.
    """
    assert expected == str(drop)


def test_nothing_of_a_state_is_shown():
    """
    The canary in a state is not seen in what is reported about it.
    """
    selection = select([message(reasoning({"signature": "canary"}))], origin(CLAUDE))

    assert "canary" not in repr(selection.drops) + str(selection.drops[0])


def test_whole_is_named():
    """
    `whole` is given by name, because `True` alone would not be readable.
    """
    assert not Drop("m", None, DropReason.EMPTY).whole
    with pytest.raises(TypeError):
        Drop("m", None, DropReason.EMPTY, True)


# -- platforms of one model

MODELS = {
    "claude-sonnet-4-5-20250929": "claude-sonnet-4-5",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0": "claude-sonnet-4-5",
    "us-gov.anthropic.claude-3-7-sonnet-20250219-v1:0": "claude-3-7-sonnet",
    "claude-sonnet-4-5@20250929": "claude-sonnet-4-5",
    "anthropic.claude-opus-5-5-v1:0": "claude-opus-5-5",
    "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-5-5-v1:0": "claude-opus-5-5",
    "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-opus-5-5-v1:0": "claude-opus-5-5",
    "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3": (
        "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3"
    ),
    "projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-5@20250929": "claude-sonnet-4-5",
    "claude-opus-5-5": "claude-opus-5-5",
    "claude-opus-4-6@default": "claude-opus-4-6",
    "publishers/anthropic/models/claude-opus-4-6@latest": "claude-opus-4-6",
    "us.anthropic.claude-opus-4-6-v1": "claude-opus-4-6",
    "claude-sonnet-4-0": "claude-sonnet-4",
    "us.anthropic.claude-sonnet-4-20250514-v1:0": "claude-sonnet-4",
    "claude-3-7-sonnet-latest": "claude-3-7-sonnet",
    "claude-opus-4-10": "claude-opus-4-10",
}


@pytest.mark.parametrize("name", MODELS)
def test_names_of_one_model(name):
    """
    What a platform adds to the name of a model is known.
    """
    assert MODELS[name] == claude.PLATFORMS.affixes.sub("", name)


BEDROCK = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
PLATFORM_PAIRS = {
    "Bedrock to Anthropic": (("bedrock", CLAUDE, BEDROCK), ("anthropic", CLAUDE, "claude-sonnet-4-5"), "same model"),
    "Vertex to Bedrock": (("vertex", CLAUDE, "claude-sonnet-4-5@20250929"), ("bedrock", CLAUDE, BEDROCK), "same model"),
    "another dialect": (
        ("bedrock", "bedrock-converse", BEDROCK),
        ("anthropic", CLAUDE, "claude-sonnet-4-5"),
        "same model",
    ),
    "another model": (("bedrock", CLAUDE, BEDROCK), ("anthropic", CLAUDE, "claude-opus-5-5"), "other provider"),
    "another platform": (("somewhere", CLAUDE, BEDROCK), ("anthropic", CLAUDE, "claude-sonnet-4-5"), "other provider"),
    "no model": (("bedrock", CLAUDE, None), ("anthropic", CLAUDE, None), "other provider"),
    "another name": (
        ("anthropic", CLAUDE, "claude-sonnet-4-5-20250929"),
        ("anthropic", CLAUDE, "claude-sonnet-4-5"),
        "same origin",
    ),
    "another region": (
        ("bedrock", "bedrock-converse", BEDROCK),
        ("bedrock", "bedrock-converse", BEDROCK.replace("us.", "global.")),
        "same origin",
    ),
    "another model of one provider": (
        ("anthropic", CLAUDE, "claude-sonnet-4-5"),
        ("anthropic", CLAUDE, "claude-opus-5-5"),
        "other model",
    ),
}


@pytest.mark.parametrize(("issuer", "target", "expected"), PLATFORM_PAIRS.values(), ids=PLATFORM_PAIRS)
def test_platforms(issuer, target, expected):
    """
    The same model on another platform is known by provider, dialect and name.
    """
    one, other = [
        Origin(provider=provider, dialect=dialect, model=model) for provider, dialect, model in (issuer, target)
    ]

    assert load_dialect(CLAUDE).policy.relation(one, other).value.startswith(expected)


@pytest.mark.parametrize(
    ("provider", "model", "signed"),
    [
        ("anthropic", "claude-sonnet-4-5", True),
        ("bedrock", "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc", True),
        ("anthropic", None, True),
        ("openrouter", "anthropic/claude-sonnet-4.5", True),
        ("openrouter", "deepseek/deepseek-v4", False),
        ("deepseek", "claude-sonnet-4-5", False),
    ],
)
def test_whose_thoughts_are_signed(provider, model, signed):
    """
    Those of a platform are, under any name of a model, and those of Claude behind a gateway.
    """
    target = Origin(provider=provider, dialect=CLAUDE, model=model)

    assert signed is load_dialect(CLAUDE).policy.signs(target)


def test_what_platforms_share():
    """
    Reasoning moves with its signature to the same model elsewhere; other state stays: it names things of a platform.
    """
    policy = load_dialect(CLAUDE).policy
    state = State(signature="sig+/=", i=0, container="c_1")
    elsewhere = Origin(provider="bedrock", dialect=CLAUDE, model=BEDROCK)
    moved = message(reasoning(state), text(state), call(state), provider_call(state), opaque(state), origin=elsewhere)
    target = Origin(provider="anthropic", dialect=CLAUDE, model="claude-sonnet-4-5")
    selection = history.select([moved], target, policy=policy)

    assert [State(signature="sig+/=", i=0), State(), State()] == [part.state for part in selection.messages[0].parts]
    assert [(place, DropReason.OTHER_PROVIDER, place > 2) for place in range(5)] == [
        (drop.part, drop.reason, drop.whole) for drop in selection.drops if drop.part is not None
    ]


def test_a_medium_of_a_message_that_runs():
    """
    Half of it is not sent, and reported.
    """
    recorder = Recorder("a1")
    events = [*recorder.start(ORIGIN_OF_MEDIUM), *recorder.media(b"half", "image/png", key="m")]
    selection = select(fold(events).messages, ORIGIN_OF_MEDIUM)

    assert [()] == [message.parts for message in selection.messages]
    assert [(0, "incomplete")] == [(drop.part, str(drop.reason)) for drop in selection.drops]


ORIGIN_OF_MEDIUM = Origin(provider="acme", model="m", dialect="acme-chat")
