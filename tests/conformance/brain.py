"""A scripted model for the public package's agents: it reads their prompts, as a model does, and answers in their forms.

The customer searches with its request, asks every business it finds, and pays the proposal with the most items, the
cheapest of those. The business proposes what it has of the named items, and declines where a named amenity is missing.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from akinai.core.models import Reply
from akinai.testing.endpoint import ModelCall, Refused

PATIENCE = 20
"""Fetches without an answer after which the customer searches further."""

_REQUEST = re.compile(r"They have the following request: (.*?)\n\nYour agent ID is: ", re.DOTALL)
_FOUND = re.compile(r"^Found business: .* \(ID: (\S+)\):$", re.MULTILINE)
_PAGES = re.compile(r"Showing page (\d+) of (\d+) search results")
_RESULT = re.compile(r"^Step \d+ result: (\[.*\])$", re.MULTILINE)
_RECEIVED = re.compile(r"📨 Received (\w+) from (\S+): (.*)", re.DOTALL)
_SENT = re.compile(r"Sent to (\S+): ")
_MENU = re.compile(r"^  - (Item-\d+): (.*) - \$([\d.]+)$", re.MULTILINE)
_AMENITY = re.compile(r"^  - (.+): (Yes|No)$", re.MULTILINE)
_SAID = re.compile(r'Customer just said: "(.*)"\n\nContext: ', re.DOTALL)
_TO = re.compile(r"^- to_customer_id: (.*)$", re.MULTILINE)


class Brain:
    """The responder of the endpoint."""

    async def reply(self, call: ModelCall) -> Reply:
        prompt = call.request.messages[0].text
        if len(call.request.messages) > 1:
            raise Refused(f"an answer was not understood: {call.request.messages[-1].text:.2000}")
        if prompt.startswith("You are an autonomous agent working for customer"):
            return Reply(json.dumps(customer(prompt)))
        if prompt.startswith("You are a business owner responding"):
            return Reply(json.dumps(business(prompt)))
        raise Refused(f"neither a customer's prompt nor a business's: {prompt:.200}")


def customer(prompt: str) -> dict[str, Any]:
    """The next action of a customer, from what it did so far."""
    request, past = _match(_REQUEST, prompt), prompt.partition("# Action Trajectory")[2]
    if "PAYMENT COMPLETED SUCCESSFULLY" in past:
        return {"action_type": "end_transaction", "reason": "The order is paid."}
    found, asked = dict.fromkeys(_FOUND.findall(past)), set[str]()
    answers, silent = list[tuple[str, str, dict[str, Any]]](), past.count("No new messages")
    for lines in _results(past):
        asked.update(sent[1] for line in lines if (sent := _SENT.match(line)))
        received = [answer for line in lines if (answer := _RECEIVED.match(line))]
        answers += [(kind, sender, json.loads(text)) for kind, sender, text in (answer.groups() for answer in received)]
    if to_ask := [id for id in found if id not in asked]:
        texts = [{"type": "text", "content": request, "to_business_id": id} for id in to_ask]
        return _messages(text_messages=texts)
    answered = {sender for _, sender, _ in answers}
    if asked - answered and silent < PATIENCE:
        return {"action_type": "check_messages", "reason": "Answers are due."}
    if offers := [(sender, message) for kind, sender, message in answers if kind == "order_proposal"]:
        seller, best = min(offers, key=lambda offer: (-len(offer[1]["items"]), offer[1]["total_price"]))
        pay = {"type": "payment", "proposal_message_id": best["id"], "to_business_id": seller}
        return _messages(pay_messages=[pay])
    pages = _PAGES.findall(past)
    page, last = map(int, pages[-1]) if pages else (0, 1)
    search = {"action_type": "search_businesses", "reason": "Nobody suits yet.", "search_query": request}
    return {**search, "search_page": page + 1 if page < last else 1}


def _messages(**messages: Any) -> dict[str, Any]:
    whole = {"text_messages": [], "pay_messages": [], **messages}
    return {"action_type": "send_messages", "reason": "To buy what was asked for.", "messages": whole}


def _results(past: str) -> Iterator[list[str]]:
    """The lists that the prompt shows as results of a step."""
    for text in _RESULT.findall(past):
        yield ast.literal_eval(text)


def business(prompt: str) -> dict[str, Any]:
    """A business's answer to what a customer just said."""
    said, to = _match(_SAID, prompt).lower(), _match(_TO, prompt)
    missing = [name for name, has in _AMENITY.findall(prompt) if has == "No" and name.lower() in said]
    items = list(_named(said, {item: (id, float(price)) for id, item, price in _MENU.findall(prompt)}))
    if missing or not items:
        content = f"Sorry, we do not offer {missing[0] if missing else 'that'}."
        return {"action_type": "text", "text_message": {"type": "text", "content": content, "to_customer_id": to}}
    total = round(sum(item["unit_price"] for item in items), 2)
    proposal = {"type": "order_proposal", "id": "new", "items": items, "total_price": total, "to_customer_id": to}
    return {"action_type": "order_proposal", "order_proposal_message": proposal}


def _named(said: str, menu: Mapping[str, tuple[str, float]]) -> Iterator[dict[str, Any]]:
    """The items of a menu that a text names, longest names first, so that none counts inside another."""
    for name in sorted(menu, key=len, reverse=True):
        if name.lower() in said:
            said = said.replace(name.lower(), "")
            id, price = menu[name]
            yield {"id": id, "item_name": name, "quantity": 1, "unit_price": price}


def _match(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    if found is None:
        raise Refused(f"the prompt has no {pattern.pattern!r}")
    return found[1]
