"""
Streams of shapes that no recording has: overlap, repetition, hops, and everything that the wire can carry at once.
"""

from .notation import (
    DONE,
    C,
    D,
    E,
    K,
    S,
    U,
    X,
    answer,
    args,
    citation,
    delta,
    fc,
    mo,
    notes,
    old,
    signature,
    step,
    stream,
    summary,
    text,
    th,
)

PNG = "iVBORw0KGgo="
SIGNED = "aB+/" * 20 + "=="
COUNTS = {
    "total_tokens": 151,
    "total_input_tokens": 17,
    "total_cached_tokens": 5,
    "total_output_tokens": 29,
    "total_thought_tokens": 41,
    "total_tool_use_tokens": 64,
}


def numbered(*wire):
    """
    Give every event an id, as background runs have.
    """
    return [{**event, "event_id": f"e{at}"} for at, event in enumerate(wire)]


OVERLAP = (
    *(S(0, th()), S(1, mo()), D(1, text("A")), D(0, summary("t1")), D(1, text("Bé")), D(0, summary("t2"))),
    *(D(0, signature(SIGNED)), X(1), X(0)),
)
SAME_KIND = (
    *(S(0, mo()), D(0, text("a1 ")), S(1, mo()), D(1, text("b1 ")), D(0, text("a2 ")), D(1, text("b2"))),
    *(S(2, th()), D(2, summary("p")), S(3, th()), D(3, summary("q")), D(2, signature("S2")), D(3, signature("S3"))),
    *(X(0), X(1), X(2), X(3)),
)
PARALLEL = (
    *(S(0, fc("c1")), S(1, fc("c2", "g")), D(0, args('{"a":')), D(1, args('{"b":[')), D(0, args('"é"}'))),
    *(D(1, args("1]}")), X(0), X(1), S(2, fc("")), X(2), S(3, fc("c1", "h", {"x": 1})), X(3)),
    *(S(4, fc("c5")), D(4, args("{oops")), X(4)),
)
TOOLS = (
    *(S(0, step("google_search_call", id="s1", signature="")),),
    D(0, delta("google_search_call", arguments={"queries": ["q"]}, signature=SIGNED)),
    *(X(0), S(1, step("google_search_result", call_id="s1", signature=""))),
    D(1, delta("google_search_result", result=[{"search_suggestions": "<div>"}], signature=SIGNED)),
    *(X(1), S(2, step("code_execution_call", id="x1", arguments={"code": "1/0"})), X(2)),
    *(S(3, step("code_execution_result", call_id="x1", result="no", is_error=True)), X(3)),
    *(S(4, step("file_search_call", id="n1")), X(4), S(5, step("url_context_result", call_id="o1")), X(5)),
    *(S(6, step("dream", plot=[1])), D(6, delta("dream_piece", x=1)), X(6)),
    *(S(7, mo()), D(7, text("done")), X(7)),
)
MEDIA = (
    *(S(0, mo("see ")), D(0, text("this")), D(0, delta("image", data=PNG, mime_type="image/png"))),
    *(D(0, text("and")), D(0, notes(citation("https://a.x/", 8, 11), citation("https://s.x/", 0, 3)))),
    *(D(0, delta("audio", data="AAAA", mime_type="audio/l16")),),
    *(D(0, delta("audio", data="AQEB", mime_type="audio/l16")), D(0, delta("video", uri="files/1"))),
    *(X(0), S(1, mo()), D(1, text("æøå cites")), D(1, notes(citation("https://e.x/", 0, 6))), X(1)),
)
LATE = (
    *(D(1, text("early ")), S(1, mo()), D(1, text("text")), X(1), X(1), S(0, th()), D(0, summary("t")), X(0)),
    *(D(0, signature("S")), D(1, text(" late")), S(2, th(signature="", summary="p"))),
    D(2, {"type": "thought_signature"}),
)


def hops(first, second):
    """
    Return two interactions of one long answer.
    """
    return (
        *(C("a"), *first, K("requires_continuation", id="a", continuation_token="dG9rMQ==")),
        *(C("b"), *second, K(id="b"), DONE),
    )


def searched(at, words):
    """
    Return a call of a search, which has its own signature.
    """
    more = {"arguments": {"queries": [words]}, "signature": f"c2lnbmF0dXJlLW9mLWNhbGw{at}"}
    return S(at, step("google_search_call", id=f"search_{at}")), D(at, delta("google_search_call", **more)), X(at)


def found(at, words):
    """
    Return the result of the call two steps before it, with a signature, too.
    """
    more = {"result": [{"search_suggestions": words}], "signature": f"c2lnbmF0dXJlLW9mLXJlc3VsdA{at}"}
    start = S(at, step("google_search_result", call_id=f"search_{at - 2}"))
    return start, D(at, delta("google_search_result", **more)), X(at)


TWO = (
    *(S(0, th()), D(0, summary("First of all")), D(0, signature(SIGNED)), X(0)),
    *(*searched(1, "one"), *searched(2, "two"), *found(3, "<p>first</p>"), *found(4, "<p>then</p>")),
    *(S(5, th()), D(5, summary("Then again")), D(5, signature("c2Vjb25kLXNpZ25hdHVyZQ==")), X(5)),
    *(S(6, mo()), D(6, text("So it is.")), X(6)),
)


SAMPLES = {
    "plain": stream(C(), U(), S(0, mo()), D(0, text("Hel")), D(0, text("lo")), X(0), K(), DONE),
    "overlap": answer(*OVERLAP),
    "overlap of one kind": answer(*SAME_KIND),
    "parallel calls": stream(C(), *PARALLEL, K("requires_action"), DONE),
    "tools of the provider": answer(*TOOLS),
    "two thoughts and two searches": answer(*TWO),
    "media and citations": answer(*MEDIA),
    "late and early": answer(*LATE),
    "with event ids": stream(*numbered(C(), U(), *OVERLAP, *[X(9)], K())),
    "1.x": stream(*[old(event) for event in (C(), *MEDIA[:7], X(0), K())]),
    "data only": stream(C(), *OVERLAP, K(), DONE, named=False),
    "CRLF": stream(C(), *OVERLAP, K(), DONE, end="\r\n"),
    "no created": stream(*OVERLAP, K(), DONE),
    "no ids": stream(C(""), *PARALLEL, K("requires_action", id=""), DONE),
    "two hops": stream(*hops(OVERLAP[:-2], [S(0, mo()), D(0, text("P2")), X(0), S(1, fc()), X(1)])),
    "three hops, one empty": stream(
        *(C("z"), K("requires_continuation", id="z", continuation_token="dG9rMA==")),
        *hops([S(0, mo("x")), X(0)], [S(0, mo("y")), X(0)]),
    ),
    "failed": stream(C(), *OVERLAP[:5], K("failed", errors=[{"code": "internal", "message": "boom"}])),
    "never ended": stream(C(), *OVERLAP[:6]),
    "error in the middle": stream(C(), S(0, mo()), D(0, text("Hel")), E("rate_limit_exceeded", "Slow down, please.")),
    "incomplete": stream(C(), S(0, mo()), D(0, text("On and")), X(0), K("incomplete", usage=COUNTS)),
    "in an environment": stream(
        C(environment_id="env_0000001"), S(0, mo()), D(0, text("Hi")), X(0), K(environment_id="env_0000001")
    ),
}
"""Whole streams by name."""
