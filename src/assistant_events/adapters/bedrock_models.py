"""What the models behind Bedrock's Converse take: the service refuses for each family what that family cannot do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from assistant_events.adapters.items import BETWEEN
from assistant_events.adapters.json_fields import is_array, is_object

MAY_BE_CLAUDE: Final = re.compile("anthropic|:application-inference-profile/")
"""Names of Claude at Bedrock, and of profiles of an account, which do not name their model (oh-my-pi#6610)."""

HOLDS_IMAGES: Final = re.compile(MAY_BE_CLAUDE.pattern + "|nova|llama-?4")
"""Others refuse an image in a result, but not behind it (anomalyco/opencode#49443, can1357/oh-my-pi#11681)."""

TURNS_OF_ONE_KIND: Final = re.compile("meta.llama|mistral-(?:large|small)-24")
"""
“Conversation blocks and tool use blocks cannot be provided in the same turn”, nor results and a text of the user
(Llama 4: strands-agents/harness-sdk#1223; Llama 3.3: tests of Tulip Labs, 2026; `mistral-large-2402`: tests of
langchain-aws, 2026).
"""

READS_S3: Final = re.compile("nova|:(?:application-inference-profile|(?:provisioned|custom|imported)-model)")
"""
Nova alone reads an object of S3 (aws/aws-sdk-js-v3#7732, of the service's team); other names here may be of Nova.

Others answer “messages.0.content.0.document.source.type: Field required” (strands-agents/harness-sdk#3610, measured for
seven families; maximhq/bifrost#6544).
"""

TAKES_NO_STATUS: Final = re.compile("writer")
"""
“This model doesn't support the status field. Remove status and try again.” (Palmyra: strands-agents/harness-sdk#393);
Llama, Mistral and Cohere take one (langchain-ai/langchain-aws#146, measured).
"""


def without_empty_names(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """
    Return blocks without the empty names that models write into inputs of calls: the service refuses them.

    It refuses nested ones, too (anomalyco/opencode#46296, earendil-works/pi: `bedrock-converse-stream.ts`).
    """
    return [{key: _cleaned(each) if key == "toolUse" else each for key, each in block.items()} for block in blocks]


def _cleaned(value: Any) -> Any:
    if is_array(value):
        return [_cleaned(each) for each in value]
    return {key: _cleaned(each) for key, each in value.items() if key} if is_object(value) else value


def of_one_kind(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages in which results are in messages of their own, with a text of the model behind them."""
    apart: list[dict[str, Any]] = []
    for message in messages:
        results = [block for block in message["content"] if "toolResult" in block]
        others = [block for block in message["content"] if "toolResult" not in block]
        if results and others and message["role"] == "user":
            answer = {"role": "assistant", "content": [{"text": BETWEEN}]}
            apart += [{**message, "content": results}, answer, {**message, "content": others}]
        else:
            apart.append(message)
    return apart
