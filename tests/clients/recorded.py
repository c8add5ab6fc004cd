"""
Two runs of an agent as they were streamed, event by event, and the documents of them.
"""

from tests.adapters.notation import (
    DONE,
    USAGE,
    C,
    D,
    K,
    S,
    U,
    X,
    args,
    citation,
    delta,
    fc,
    mo,
    notes,
    signature,
    step,
    summary,
    text,
    th,
)

from .answers import AGENT, CREATED

HEAD = {"created": CREATED, "object": "interaction", "agent": AGENT}
ASKED = step("user_input", content=[{"type": "text", "text": "Why?"}])
PNG = "iVBORw0KGgo="

THOUGHTS = [
    C(status="in_progress", **HEAD),
    U(),
    S(0, th(signature="")),
    D(0, summary("Look at the map")),
    D(0, signature("")),
    D(0, summary(", then at the weather.")),
    D(0, signature("c2lnbmVk/+==")),
    X(0),
    S(1, mo()),
    D(1, text("Tromsø ")),
    D(1, text("ligger ")),
    D(1, text("langt mot nord 🌍, og")),
    D(1, text(" jeg ser etter.")),
    X(1),
    S(2, fc("c1", "weather", signature="")),
    D(2, args('{"city":')),
    D(2, args('"Tromsø","days"')),
    D(2, args(":3}")),
    X(2),
    K("requires_action"),
    DONE,
]
"""A thought with its signature, text, and a call for the app to answer."""

SEARCH = {"id": "s1", "arguments": {"queries": ["tromsø weather"]}}
FOUND = [{"search_suggestions": "<div>…</div>"}]
CITED = citation("https://e.x/", 0, 7, title="E")

SEARCHED = [
    C(status="in_progress", **HEAD),
    S(0, step("google_search_call", id="s1", signature="")),
    D(0, delta("google_search_call", arguments=SEARCH["arguments"], signature="c2c+")),
    X(0),
    S(1, step("google_search_result", call_id="s1", signature="")),
    U(),
    D(1, delta("google_search_result", result=FOUND, signature="YmlnL2Jp")),
    X(1),
    S(2, th()),
    D(2, signature("dGhvdWdodA==")),
    X(2),
    S(3, mo()),
    D(3, text("Tromsø:")),
    D(3, text(" snø.")),
    D(3, notes(CITED)),
    D(3, delta("image", data=PNG, mime_type="image/png")),
    X(3),
    S(4, mo()),
    D(4, text("Ta på lue.")),
    X(4),
    K(),
    DONE,
]
"""A search that the provider runs, a thought of nothing but a signature, cited text, and a picture."""

DOCUMENTS = {
    "thoughts": [
        ASKED,
        th(
            signature="c2lnbmVk/+==",
            summary=[
                {"type": "text", "text": "Look at the map"},
                {"type": "text", "text": ", then at the weather."},
            ],
        ),
        mo("Tromsø ligger langt mot nord 🌍, og jeg ser etter."),
        fc("c1", "weather", {"city": "Tromsø", "days": 3}),
    ],
    "searched": [
        ASKED,
        step("google_search_call", **SEARCH, signature="c2c+"),
        step("google_search_result", call_id="s1", result=FOUND, signature="YmlnL2Jp"),
        th(signature="dGhvdWdodA=="),
        step(
            "model_output",
            content=[
                {"type": "text", "text": "Tromsø: snø.", "annotations": [CITED]},
                {"type": "image", "data": PNG, "mime_type": "image/png"},
            ],
        ),
        mo("Ta på lue."),
    ],
}

STREAMS = {"thoughts": THOUGHTS, "searched": SEARCHED}
STATUS = {"thoughts": "requires_action", "searched": "completed"}


def document_of(name, status=None, **more):
    """
    Return the document of one of the runs, finished unless another status is given.
    """
    made = {"id": "v1", **HEAD, "status": status or STATUS[name], "steps": DOCUMENTS[name], "usage": USAGE, **more}
    return {key: value for key, value in made.items() if value is not None}


def running_of(name):
    """
    Return the document of one of the runs while it is in progress.
    """
    return document_of(name, "in_progress", usage=None, steps=DOCUMENTS[name][:2])


def with_ids(wire, which):
    """
    Give ids to all events, to none, or to all but deltas.
    """

    def chosen(event):
        return which == "all" or (which == "some" and event["event_type"] != "step.delta")

    return [
        {**event, "event_id": f"v1_{at}"} if event != DONE and chosen(event) else event for at, event in enumerate(wire)
    ]
