"""Separation of a model's thoughts from what it says, in the forms of all families of models. Pure."""

import json
import re
from dataclasses import dataclass

from akinai.core.replies.lenient_json import Malformed, Unended, decode

_NAMES = (
    "think|thinking|thoughts?|reasoning|analysis|scratch_?pad|reflections?|inner_?monologue|antthinking|longcat_think"
)
_OPEN = re.compile(
    rf"<(?:\w+[:|])?(?:{_NAMES})(?:\s[^<>/]*)?>|\[(?:{_NAMES})\]|◁think▷|<\|(?:think|thinking|begin_of_thought"
    r"|start_thinking|inner_prefix)\|>|<\|channel>\s*thought\b|<unused94>(?:thought\b)?",
    re.IGNORECASE,
)
_CLOSE = re.compile(
    rf"</(?:\w+[:|])?(?:{_NAMES})\s*>|\[/(?:{_NAMES})\]|◁/think▷|<\|/(?:think|thinking)\|>|<\|(?:end_of_thought"
    r"|end_thinking|inner_suffix)\|>|<channel\|>|<unused95>|\[BEGIN FINAL RESPONSE\]",
    re.IGNORECASE,
)
_FENCED = re.compile(rf"^[ \t]*```[ \t]*(?:{_NAMES})[ \t]*\n(.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_HEADED = re.compile(
    r"\A\s*Here(?:'s| is| are) my (?:thought process|reasoning steps):?(.*?)(?:Here(?:'s| is) my response:?|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_END_OF_MESSAGE = re.compile(r"<\|(end|return|call|start|eot|im_end)\|>")
_TOKEN = re.compile(r"<\|(?:channel|message)\|>")
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w*)")
_RECIPIENT = re.compile(r"\bto=([\w.:-]+)")
_BARE_ANALYSIS = re.compile(
    r"\A\s*(?:assistant)?analysis(?=[A-Z])(.*?)(?:assistant\s*(final|commentary)|\Z)", re.DOTALL
)
_OPENING = re.compile(r"[{\[]")


@dataclass(frozen=True, slots=True)
class Parts:
    """A reply in its two parts."""

    text: str
    """The reply without its thoughts. A call on a channel of its own stands in it as <tool_call>."""
    thoughts: str = ""
    begun: bool = False
    """Whether the reply opens its thoughts itself."""
    unended: bool = False
    """Whether the reply ends inside its thoughts."""


def split_thoughts(reply: str) -> Parts:
    """What a reply says, and what it thinks. A closing mark without an opening one makes thoughts of all before it.

    A mark inside a text of a whole JSON object is part of that text.
    """
    if "<|" in reply and _stands_outside(_TOKEN, reply):
        return _channels(reply)
    if bare := _BARE_ANALYSIS.match(reply):
        after = reply[bare.end() :]
        call = _RECIPIENT.match(after.lstrip()) if bare[2] == "commentary" else None
        text = _as_call(call[1], after.lstrip()[call.end() :].strip().removeprefix("json")) if call else after
        return Parts(text, bare[1].strip(), begun=True, unended=bare[2] is None)
    text, thoughts = reply, list[str]()
    for form in (_HEADED, _FENCED):
        thoughts += [match[1].strip() for match in form.finditer(text)]
        text = form.sub("", text)
    marked = _marked(text)
    return Parts(
        marked.text,
        "\n".join(filter(None, (*thoughts, marked.thoughts))),
        marked.begun or text != reply,
        marked.unended,
    )


def _marked(reply: str) -> Parts:
    """The parts of a reply whose thoughts stand between marks."""
    marks = [(match, True) for match in _OPEN.finditer(reply)] + [(match, False) for match in _CLOSE.finditer(reply)]
    if not marks:
        return Parts(reply)
    whole = _whole_values(reply)
    marks = [mark for mark in marks if not any(start < mark[0].start() < end for start, end in whole)]
    said, thoughts, position, thinking, begun = list[str](), list[str](), 0, False, False
    for mark, opens in sorted(marks, key=lambda mark: mark[0].start()):
        part = reply[position : mark.start()]
        if opens and not thinking:
            said.append(part)
            begun = begun or not "".join(said).strip()
        elif opens or thinking:
            thoughts.append(part)
        else:
            thoughts, said = [*said, part], []
        thinking, position = opens, mark.end()
    (thoughts if thinking else said).append(reply[position:])
    return Parts("".join(said), "\n".join(filter(None, map(str.strip, thoughts))), begun, thinking)


def _stands_outside(form: re.Pattern[str], reply: str) -> bool:
    """Whether a form is in a reply outside its whole objects and lists."""
    spans = _whole_values(reply) if form.search(reply) else []
    return any(not any(start < match.start() < end for start, end in spans) for match in form.finditer(reply))


def _whole_values(reply: str) -> list[tuple[int, int]]:
    """The spans of the outermost whole objects and lists of a text."""
    spans = list[tuple[int, int]]()
    opening, tries = _OPENING.search(reply), 0
    while opening and tries < 500:
        end = opening.start() + 1
        try:
            _, end = decode(reply, opening.start())
        except (Unended, Malformed, ValueError, RecursionError):
            pass
        else:
            spans.append((opening.start(), end))
        opening, tries = _OPENING.search(reply, end), tries + 1
    return spans


def _channels(reply: str) -> Parts:
    """The parts of a reply in messages with channels: analysis is thought, a message to a function is a call."""
    said, thoughts, last = list[str](), list[str](), "final"
    pieces = _END_OF_MESSAGE.split(reply)
    for message, ending in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        header, separator, body = message.partition("<|message|>")
        if separator and header.strip() in ("analysis", "commentary", "final"):
            header = f"<|channel|>{header.strip()}"
        channel, recipient = _CHANNEL.search(header), _RECIPIENT.search(header)
        if channel is None and not separator:
            said.append("" if header.strip() == "assistant" else header)
            continue
        if not separator:
            assert channel
            header, body = header[: channel.end()], header[channel.end() :]
        last = channel[1] if channel else "final"
        if recipient and recipient[1].lower() not in ("assistant", "user") and (last != "analysis" or ending == "call"):
            said.append(_as_call(recipient[1], body))
        elif last == "analysis":
            thoughts.append(body.strip())
        else:
            said.append(body)
    text = "\n".join(filter(None, map(str.strip, said)))
    return Parts(text, "\n".join(filter(None, thoughts)), begun=bool(thoughts), unended=not text)


def _as_call(name: str, arguments: str) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments.strip()}, ensure_ascii=False)}</tool_call>"
