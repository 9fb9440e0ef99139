"""Calls of actions in a text, in the notations of all families of models: JSON, tags, and Python's calls. Pure."""

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import NoneType
from typing import Any, cast

from akinai.core.actions import Verbs
from akinai.core.replies.arguments import TEXT_KEYS, find_verb, json_value
from akinai.core.replies.lenient_json import Malformed, Unended, decode
from akinai.core.replies.objects import values_in

NAME_KEYS = ("action", "tool_name", "command", "name")
"""Keys of an object that name its action."""
_OTHER_NAME_KEYS = ("tool", "function", "function_name", "verb", "recipient_name")
_LISTS = "tool_calls toolCalls function_calls functionCalls calls actions commands tool_uses".split()
_SINGLE = (
    "tool_call toolCall function_call functionCall function call tool_use next_action response output result final "
    "final_answer answer decision message".split()
)
_BESIDE = frozenset({"id", "type", "index", "tool_call_id", "call_id"})
"""Keys of a call that are no parameters."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call, as an object in the structured-action format."""

    fields: Mapping[str, Any]
    text: str = ""
    """The text beside it: text fields of the object around it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """The calls at one position of a text: of an object, of a list, or of a tag."""

    calls: tuple[Call, ...]
    start: int
    end: int
    marked: bool = False
    """Whether it is written as a call of a tool, in the notation of a family of models."""


def calls_in(verbs: Verbs, text: str) -> tuple[list[Candidate], bool]:
    """The candidates in a text in order, and whether it holds objects without an action.

    UnreadableReply when the text ends inside an object.
    """
    candidates = list(_tagged(verbs, text))
    blank = list(text)
    for candidate in candidates:
        blank[candidate.start : candidate.end] = " " * (candidate.end - candidate.start)
    others = False
    for item in values_in("".join(blank), bare_keys=True):
        calls = calls_of(verbs, item.value)
        if calls:
            before = _MARK_BEFORE.search(text, max(0, item.start - MARK_LENGTH), item.start)
            start = before.start() if before else item.start
            candidates.append(Candidate(tuple(calls), start, item.end, marked=before is not None))
        else:
            others = others or isinstance(item.value, dict)
    candidates = _continued(text, sorted(candidates, key=lambda candidate: candidate.start))
    if not candidates and (calls := _python_calls(verbs, text)):
        return [Candidate(tuple(calls), 0, len(text), marked=True)], others
    return candidates, others


def _continued(text: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, where one that follows a marked one after a comma or a semicolon is marked too."""
    continued: list[Candidate] = []
    for candidate in candidates:
        last = continued[-1] if continued else None
        if last and last.marked and text[last.end : candidate.start].strip() in (";", ","):
            candidate = replace(candidate, marked=True)
        continued.append(candidate)
    return continued


MARK_LENGTH = 80
"""Characters before an object in which the mark of a call is looked for."""
_MARK_BEFORE = re.compile(
    r"(?:<tool_calls?>|<function_calls?>|<toolcall>|<\|tool_calls?\|>|<\|python_tag\|>|\[TOOL_CALLS\]|<\|plugin\|>"
    r"|<\|start_action\|>|<\|python_start\|>|<\|tool_call_start\|>|<\|tool_call>)\s*(?:```(?:json)?\s*)?\Z",
    re.IGNORECASE,
)
MARKS = re.compile(
    r"</?(?:tool_calls?|function_calls?|toolcall|tool_use|answer|action|response|output|final|final_answer|json)>"
    r"|</?[\w:｜]*(?:invoke|function_calls|tool_calls?)>|<\|/?\w+\|>|<\|tool_call>|<tool_call\|>|</s>|<end_of_turn>"
    r"|\[/?TOOL_CALLS\]|<｜[\w▁]+｜>|\[(?:END_)?TOOL_REQUEST\]",
    re.IGNORECASE,
)
"""Marks around calls and answers, which nobody says."""


def calls_of(verbs: Verbs, value: object) -> Sequence[Call]:
    """The calls that a JSON value is: an object that names an action, one in a wrapper, or a list of such objects."""
    if isinstance(value, list):
        items = [calls_of(verbs, item) for item in cast("list[object]", value)]
        return [call for calls in items for call in calls] if items and all(items) else ()
    if not isinstance(value, Mapping):
        return ()
    fields = cast("Mapping[str, Any]", value)
    for key in NAME_KEYS:
        if key in fields:
            inner = fields[key]
            if isinstance(inner, Mapping):
                return _beside(calls_of(verbs, cast("object", inner)), fields, key)
            return [Call(_without_ids(verbs, fields, key))]
    for key in _OTHER_NAME_KEYS:
        if isinstance(fields.get(key), str):
            renamed = {"action" if name == key else name: item for name, item in fields.items()}
            return [Call(_without_ids(verbs, renamed, "action"))]
    for key in (*_LISTS, *_SINGLE):
        inner = _decoded(fields.get(key))
        if isinstance(inner, list if key in _LISTS else Mapping) and set(fields) - {key} <= TEXT_KEYS | _BESIDE:
            return _beside(calls_of(verbs, cast("object", inner)), fields, key)
    keys = [key for key in fields if key not in TEXT_KEYS]
    if len(keys) == 1 and isinstance(fields[keys[0]], Mapping | NoneType) and find_verb(verbs, keys[0]):
        return _beside([Call({"action": keys[0], "arguments": fields[keys[0]]})], fields, keys[0])
    return [Call(only)] if (only := of_only_verb(verbs, fields)) else ()


def of_only_verb(verbs: Verbs, fields: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The fields of an object without an action's name, with the name where one verb is offered and all are its own."""
    if verbs.only is None:
        return None
    own = verbs.parameters(name := verbs.only.tool_name())
    parameters = [key for key in fields if key in own or key not in TEXT_KEYS]
    return {"action": name, **fields} if parameters and own.issuperset(parameters) else None


def _beside(calls: Sequence[Call], fields: Mapping[str, Any], key: str) -> Sequence[Call]:
    """The calls with the texts around them, which the first one keeps."""
    texts = [item for name, item in fields.items() if name != key and name in TEXT_KEYS and isinstance(item, str)]
    return [replace(calls[0], text="\n".join([*texts, calls[0].text]).strip()), *calls[1:]] if calls else ()


def _without_ids(verbs: Verbs, fields: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The fields of a call without the id and the type that servers add."""
    name = fields[key]
    verb = find_verb(verbs, name) if isinstance(name, str) else None
    own = verbs.parameters(verb.tool_name()) if verb else frozenset[str]()
    return {name: item for name, item in fields.items() if name not in _BESIDE or name in own}


def _decoded(value: object) -> object:
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json_value(value)
        except ValueError:
            return value
    return value


def _named(name: str, arguments: object) -> Call:
    return Call({"action": name, "arguments": arguments})


_FUNCTION = re.compile(r"<function=([^<>]+?)>(.*?)</function>", re.DOTALL)
_INVOKE = re.compile(r"<([\w:｜]*)invoke\s+name=[\"']([^\"']+)[\"']\s*>(.*?)</\1invoke>", re.DOTALL)
_PARAMETER = re.compile(
    r"<[\w:｜]*parameter(?:=([^<>]+?)|\s+name=[\"']([^\"']+)[\"'][^<>]*)>(.*?)</[\w:｜]*parameter>", re.DOTALL
)
_ARG_KEYS = re.compile(
    r"<tool_call>\s*([\w.-]+)\s*((?:<arg_key>.*?</arg_key>\s*<arg_value>.*?</arg_value>\s*)*)</tool_call>", re.DOTALL
)
_ARG = re.compile(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_BEFORE_JSON: Sequence[re.Pattern[str]] = (
    re.compile(
        r"<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?([\w.:-]+?)(?:<｜tool▁sep｜>)?\s*(?:```(?:json)?)?\s*(?=\{)"
    ),
    re.compile(r"<\|tool_call_begin\|>\s*([\w.:-]+?)\s*<\|tool_call_argument_begin\|>\s*(?=\{)"),
    re.compile(r"(?:\[TOOL_CALLS\])([\w.-]+)(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?\s*(?=\{)"),
    re.compile(r">>>([\w.-]+)\n\s*(?=\{)"),
    re.compile(r"<\|recipient\|>\s*([\w.-]+)\s*<\|content\|>\s*(?=\{)"),
    re.compile(r"<function=([^<>]+?)>\s*(?=\{)"),
    re.compile(r"(?<!\w)to=([\w.:-]+)\s*(?:code|json)?\s*(?=\{)"),
    re.compile(r"(?<![\w.])functions\.(\w+)\(\s*(?=\{)"),
    re.compile(
        r"^[ \t*_]*Action[*_]*:[*_ \t]*`?([\w. -]+?)`?[ \t*_]*\n[ \t*_]*(?:Action )?Input[*_]*:[*_]*\s*"
        r"(?:```(?:json)?)?\s*(?=\{)",
        re.MULTILINE,
    ),
)
"""Notations of a name with its arguments as a JSON object behind it."""
_AFTER_JSON = re.compile(r"\)?\s*(?:```)?\s*(?:</function>|<｜tool▁call▁end｜>|<\|tool_call_end\|>)?")
_GEMMA = re.compile(
    r"(?:<start_function_call>|<\|tool_call>)call:([\w.-]+)\{(.*?)\}(?:<end_function_call>|<tool_call\|>)"
)
_GEMMA_FIELD = re.compile(r"(\w+):(?:<escape>(.*?)<escape>|<\|\"\|>(.*?)<\|\"\|>|([^,]*))", re.DOTALL)


def _tagged(verbs: Verbs, text: str) -> Iterator[Candidate]:
    """Calls in tags that hold a name beside its arguments."""
    taken: list[tuple[int, int]] = []
    for candidate in _each_tagged(verbs, text):
        if not any(start < candidate.end and candidate.start < end for start, end in taken):
            taken.append((candidate.start, candidate.end))
            yield candidate


def _each_tagged(verbs: Verbs, text: str) -> Iterator[Candidate]:
    forms: Sequence[tuple[re.Pattern[str], str, Callable[[re.Match[str]], Sequence[Call]]]] = (
        (_FUNCTION, "</function>", lambda match: [_named(match[1], _parameters(match[2]))]),
        (_INVOKE, "invoke>", lambda match: [_named(match[2], _parameters(match[3]))]),
        (_ARG_KEYS, "</tool_call>", lambda match: [_named(match[1], dict(_plain_pairs(match[2])))]),
        (
            _GEMMA,
            r"\}(?:<end_function_call>|<tool_call\|>)",
            lambda match: [_named(match[1], _gemma_arguments(match[2]))],
        ),
        (_CODE, r"(?m:^[ \t]*```[ \t]*$)|</tool_code>", lambda match: _python_calls(verbs, match[1])),
    )
    for form, closing, calls_of_match in forms:
        end = max((match.end() for match in re.finditer(closing, text)), default=0)
        for match in form.finditer(text, 0, end):  # past the last closing tag no opening one finds its own
            if calls := calls_of_match(match):
                yield Candidate(tuple(calls), match.start(), match.end(), marked=True)
    for form in _BEFORE_JSON:
        for match in form.finditer(text):
            try:
                value, end = decode(text, match.end())
            except (Unended, Malformed, ValueError, RecursionError):
                continue
            after = _AFTER_JSON.match(text, end)
            assert after
            yield Candidate((_named(match[1], value),), match.start(), after.end(), marked=True)


def _plain_pairs(body: str) -> Iterator[tuple[str, object]]:
    return ((key, _plain(value)) for key, value in _ARG.findall(body))


def _parameters(body: str) -> object:
    """The arguments in a tag: parameters in tags of their own, or JSON text."""
    if fields := _PARAMETER.findall(body):
        return {(key or name).strip(): _plain(value) for key, name, value in fields}
    return body.strip()


def _plain(text: str) -> object:
    """A parameter in a tag: its text, or a number, an object or a list as JSON writes it."""
    text = text.strip("\n")
    if re.fullmatch(r"\s*(?:-?\d+(?:\.\d+)?|true|false|null|[\[{].*[\]}])\s*", text, re.DOTALL):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def _gemma_arguments(body: str) -> dict[str, object]:
    fields = _GEMMA_FIELD.findall(body)
    return {key: escaped or quoted or _plain(bare) for key, escaped, quoted, bare in fields}


_CODE = re.compile(
    r"(?:^[ \t]*```[ \t]*(?:tool_code|tool_calls?|python)[ \t]*\n|<tool_code>)(.*?)(?:^[ \t]*```[ \t]*$|</tool_code>)",
    re.DOTALL | re.MULTILINE,
)
_FENCE = re.compile(r"\A\s*```(?:tool_code|python|tool_call|tool_calls)?\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


def _python_calls(verbs: Verbs, text: str) -> Sequence[Call]:
    """The calls of a text that is nothing but Python's calls of actions, with their parameters by name."""
    fenced = _FENCE.match(text)
    code = MARKS.sub("\n", fenced[1] if fenced else text).strip()
    if "(" not in code or len(code) > 20_000:
        return ()
    code = re.sub(r"\Aprint\((.*)\)\Z", r"\1", code, flags=re.DOTALL)
    try:
        statements = ast.parse(code).body
        nodes = [statement.value for statement in statements if isinstance(statement, ast.Expr)]
        items = [item for node in nodes for item in (node.elts if isinstance(node, ast.List) else [node])]
        if len(nodes) != len(statements):
            return ()
        calls = [_python_call(verbs, item) for item in items]
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return ()
    return [call for call in calls if call] if all(calls) else ()


def _python_call(verbs: Verbs, node: ast.expr) -> Call | None:
    if not isinstance(node, ast.Call) or node.args or not all(word.arg for word in node.keywords):
        return None
    if not find_verb(verbs, name := ast.unparse(node.func)):
        return None
    return _named(name, {str(word.arg): ast.literal_eval(word.value) for word in node.keywords})
