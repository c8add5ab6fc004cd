"""A mock of the Responses API: its service, and its options."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from secrets import token_bytes, token_hex
from typing import Any, Final, cast, final

import attrs
from starlette.types import ASGIApp

from assistant_events.adapters.json_fields import Fields, mapping, mappings, string
from assistant_events.adapters.openai_responses.mock.aimock import FORM
from assistant_events.adapters.openai_responses.mock.answers import Answer
from assistant_events.adapters.openai_responses.mock.conversations import (
    Conversation,
    Conversations,
    page_of,
    stored_item,
)
from assistant_events.adapters.openai_responses.mock.request_facts import input_items, read_request
from assistant_events.adapters.openai_responses.mock.runs import (
    FAULT_FRAMES,
    SEALED,
    Prepared,
    Run,
    counted_usage,
    output_of,
)
from assistant_events.adapters.openai_responses.mock.validation import (
    GROK,
    ItemLedger,
    Known,
    check_create,
    check_items,
)
from assistant_events.mock import app, fixtures
from assistant_events.mock.documents import texts_of, token_count
from assistant_events.mock.matching import RequestFacts
from assistant_events.mock.openai_api import MODEL_PATHS, PREFIXES, error_response, request_id
from assistant_events.mock.requests import Api, ApiError, json_response, preflight_for
from assistant_events.mock.runs import Body
from assistant_events.mock.service import Call, MockService, Slot
from assistant_events.mock.signatures import make_signature

_CONVERSATIONS: Final = tuple([f"{prefix}/conversations" for prefix in PREFIXES])


@final
class ResponsesService(MockService[Run]):
    """The state of a mock of the Responses API."""

    PATHS = tuple([f"{prefix}/responses" for prefix in (*PREFIXES, "/openai")])
    COUNT_PATHS = tuple([f"{path}/input_tokens" for path in PATHS])
    MODEL_PATHS = MODEL_PATHS
    FRAMES = FAULT_FRAMES
    PREPARED = Prepared
    RUN = Run
    FORM = FORM
    error_response = staticmethod(error_response)

    def begin(self) -> None:
        """Begin without items and conversations, too."""
        self._items = ItemLedger()
        self._conversations = Conversations(self.settings.max_runs)
        super().begin()

    # -- what the base asks for

    def new_id(self) -> str:
        """Return a random id of an answer."""
        return f"resp_{token_hex(24)}"

    def run_options(self, body: Body) -> Mapping[str, Any]:
        """Return further options of the run of a request."""
        before = token_count(texts_of(self._earlier(body) or ()))
        background, previous = body.get("background") is True, body.get("previous_response_id")
        return {"background": background, "previous_id": previous, "tokens_before": before}

    def signed_items(self, answer: fixtures.Answer) -> Iterable[tuple[str, object]]:
        """Yield the encrypted contents that an answer of a fixture has itself."""
        for item in cast("Answer", answer).output:
            content = string(item, "encrypted_content")
            if content is not None:
                yield content, SEALED

    def answer_to(self, body: Body, answer: fixtures.Answer) -> fixtures.Answer:
        """Return the answer; a reasoning of Grok has a status, without which clients of xAI do not read it."""
        if not GROK.search(string(body, "model") or ""):
            return answer
        output = cast("Answer", answer).output
        shown = [{"status": "completed", **item} if item.get("type") == "reasoning" else item for item in output]
        return attrs.evolve(cast("Answer", answer), output=cast("Any", shown))

    def facts(self, body: Body) -> RequestFacts:
        """Return what fixtures are compared with in a request."""
        return read_request(body, self._earlier(body), self._items.call_id_of)

    def check(self, call: Call, body: Body) -> None:
        """Check a request as the service does. Raises `ApiError`."""
        previous = body.get("previous_response_id")
        if previous and not self.runs.chain(previous):
            text = f"Previous response with id '{previous}' not found."
            raise ApiError(400, text, code="previous_response_not_found", param="previous_response_id")
        earlier = self._earlier(body) or []
        check_create(body, Known(signatures=self.ledger if self.signs else None, items=self._items, earlier=earlier))

    def new_run(self, call: Call, body: Body, slot: Slot) -> Run:
        """Return the run of a request; it is kept unless `store` is false."""
        if body.get("previous_response_id") and self.takes_fault(call, "no-chaining"):
            raise ApiError(501, "previous_response_id is not implemented.")
        run = super().new_run(call, body, slot)
        self._items.note(output_of(run), stored=run.stored)
        if run.stored:
            self.runs.add(run, len(call.data))
        conversation = self._conversations.of_request(body)
        if conversation is not None and run.answer.stream_error is None:
            conversation.items += [*self._given(run), *output_of(run)]
        return run

    def document(self, call: Call, run: Run, status: str) -> ASGIApp:
        """Return the response in a state."""
        return json_response(run.document(status), headers=self.response_headers(run))

    def count_document(self, call: Call, tokens: int) -> dict[str, Any]:
        """Return the answer to a request that counts tokens."""
        return {"object": "response.input_tokens", "input_tokens": tokens}

    def response_headers(self, run: Run) -> Mapping[str, str]:
        """Return the id of the request."""
        return request_id(run.salt)

    def api(self) -> Api:
        """Return the HTTP interface."""

        def one(call: Call) -> ASGIApp:
            return (self.get if call.request.method == "GET" else self.delete)(call)

        api = super().api()
        rows: list[tuple[Sequence[str], str, Sequence[str], Callable[[Call], ASGIApp]]] = [
            (self.PATHS, "/compact", ("POST",), self.compact),
            (self.PATHS, "/{id}", ("GET", "DELETE"), one),
            (self.PATHS, "/{id}/cancel", ("POST",), self.cancel),
            (self.PATHS, "/{id}/input_items", ("GET",), self.list_input),
            (_CONVERSATIONS, "", ("POST",), self.conversation),
            (_CONVERSATIONS, "/{id}", ("GET", "POST", "DELETE"), self.conversation),
            (_CONVERSATIONS, "/{id}/items", ("GET", "POST"), self.conversation_items),
            (_CONVERSATIONS, "/{id}/items/{item_id}", ("GET", "DELETE"), self.conversation_items),
        ]
        more = [
            (f"{path}{end}", methods, self.handler(answer)) for paths, end, methods, answer in rows for path in paths
        ]
        return attrs.evolve(api, routes=[*api.routes, *more], preflight=preflight_for("GET", "POST", "DELETE"))

    def compact(self, call: Call) -> ASGIApp:
        """Answer `POST /responses/compact`: the messages of the user, and an item for everything else."""
        self.check_faults(call, "compact")
        body = self.body(call)
        if self.settings.strict:
            self.check(call, {"input": [], **body} if body.get("previous_response_id") else body)
        earlier = self._earlier(body) or []
        kept = self._stored([item for item in (*earlier, *input_items(body)) if item.get("role") == "user"])
        ident, salt = token_hex(24), token_bytes(8)
        sealed = {"type": "compaction", "id": f"cmp_{ident}", "encrypted_content": make_signature(SEALED, salt, 0)}
        document = {
            "id": f"resp_{ident}",
            "object": "response.compaction",
            "created_at": int(self.clock.utc().timestamp()),
            "output": [*kept, sealed],
            "usage": counted_usage(token_count(texts_of(earlier)) + Run.input_tokens(body), 1),
        }
        return json_response(document, headers=request_id(salt))

    # -- requests for a run that exists

    def get(self, call: Call) -> ASGIApp:
        """Answer `GET /responses/{id}`: with the document, or with its events from the start or after a number."""
        run = self._found(call)
        self.check_faults(call, "get", run)
        query = call.request.query_params
        if query.get("stream", "").lower() != "true":
            if run.budget.takes("document") or call.budget.takes("document"):
                run = self.other_run(run)
            return self.document(call, run, run.poll())
        if not run.background:
            raise ApiError(400, "Stream is only supported for responses created with background=true.")
        after = query.get("starting_after", "-1")
        if not re.fullmatch("-?[0-9]{1,9}", after):
            raise ApiError(400, f"Invalid value for 'starting_after': {after!r}.")
        return self.stream(call, run, after=max(int(after) + 1, 0), is_replay=True)

    def cancel(self, call: Call) -> ASGIApp:
        """Answer `POST /responses/{id}/cancel`: the run and its open streams end."""
        run = self._found(call)
        self.check_faults(call, "cancel", run)
        if not run.background:
            raise ApiError(400, "Cannot cancel a synchronous response.")
        run.cancel()
        return self.document(call, run, run.poll())

    def delete(self, call: Call) -> ASGIApp:
        """Answer `DELETE /responses/{id}`: the record is removed, the run continues."""
        run = self._found(call)
        self.check_faults(call, "delete", run)
        self.runs.remove(run.id)
        self._items.forget(output_of(run))
        return json_response({"id": run.id, "object": "response", "deleted": True})

    def list_input(self, call: Call) -> ASGIApp:
        """Answer `GET /responses/{id}/input_items`: its own, and those of the responses that it continues."""
        run = self._found(call)
        self.check_faults(call, "get", run)
        before = [item for each in self.runs.chain(run.previous_id) for item in (*self._given(each), *output_of(each))]
        return json_response(page_of([*before, *self._given(run)], call.request.query_params))

    # -- conversations

    def conversation(self, call: Call) -> ASGIApp:
        """Answer a request that creates, reads, changes or removes a conversation."""
        self.check_faults(call, "conversation")
        method, named = call.request.method, call.request.path_params.get("id")
        body: Body = self.body(call) if method == "POST" and call.data else {}
        if named is None:
            found = self._conversations.create(int(self.clock.utc().timestamp()), mapping(body, "metadata"))
            self._extend(found, body)
        else:
            found = self._conversations.get(named)
        if method == "DELETE":
            self._conversations.remove(found.id)
            return json_response({"id": found.id, "object": "conversation.deleted", "deleted": True})
        found.metadata = mapping(body, "metadata") or found.metadata
        return json_response(found.document())

    def conversation_items(self, call: Call) -> ASGIApp:
        """Answer a request that reads, adds or removes items of a conversation."""
        self.check_faults(call, "conversation")
        request = call.request
        found = self._conversations.get(request.path_params["id"])
        item_id = request.path_params.get("item_id")
        if request.method == "POST":
            added = self._extend(found, self.body(call))
            return json_response(page_of(added, {"order": "asc", "limit": "100"}))
        if item_id is None:
            return json_response(page_of(found.items, request.query_params))
        item = found.item(item_id)
        if request.method == "GET":
            return json_response(item)
        found.items.remove(item)
        return json_response(found.document())

    def _extend(self, conversation: Conversation, body: Body) -> list[Fields]:
        """Add the items of a request to a conversation and return them as they are stored."""
        given = mappings(body, "items")
        if self.settings.strict:
            check_items("items", given)
        added = self._stored(given)
        self._items.note_copies(added)
        conversation.items += added
        return added

    def _given(self, run: Run) -> list[Fields]:
        """Return the items of the request of a run, with the ids that they got when they were first asked for."""
        if run.given is None:
            run.given = self._stored(input_items(run.body))
        return run.given

    def _stored(self, items: Iterable[Fields]) -> list[Fields]:
        return [stored_item(self._items.resolved(item) if self.settings.strict else item) for item in items]

    def _found(self, call: Call) -> Run:
        run_id = call.request.path_params["id"]
        run = self.runs.get(run_id)
        if run is None:
            raise ApiError(404, f"Response with id '{run_id}' not found.")
        return run

    def _earlier(self, body: Body) -> list[Fields] | None:
        """Return the items that the service has of the conversation of a request; `None` when it begins one."""
        conversation = self._conversations.of_request(body)
        if conversation is not None:
            return conversation.items
        chain = self.runs.chain(body.get("previous_response_id"))
        return [item for run in chain for item in (*input_items(run.body), *output_of(run))] if chain else None


class MockProvider(app.MockProvider):
    """A provider of the Responses API that answers from fixtures, with the options of the class in `mock`."""

    SERVICE = ResponsesService
