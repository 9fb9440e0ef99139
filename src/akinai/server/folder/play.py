#!/usr/bin/env python3
"""Play the game of this folder. Its actions are listed below; those with complex values take them as JSON."""

from __future__ import annotations

import argparse
import http.client
import json
import signal
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ACTIONS: list[dict[str, Any]] = json.loads(r"""[]""")
SESSION = Path(__file__).resolve().parent / ".session.json"
REFUSED, UNANSWERED = 1, 2
"""Exit codes: the rules refused the action, or the game is over; the line has a mistake, or nobody answered."""
DEST = "argument "
"""Before the name of a parameter, so that it is no other attribute of the parsed line."""
NAMES: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
}


def kinds_of(schema: dict[str, Any]) -> set[str]:
    """The kinds of JSON values that a schema takes; empty where it does not say."""
    if "const" in schema or "enum" in schema:
        return {kind_of(value) for value in schema.get("enum", [schema.get("const")])}
    if "type" in schema:
        kind: str | list[str] = schema["type"]
        return {kind} if isinstance(kind, str) else {*kind}
    branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    return {kind for branch in branches for kind in kinds_of(branch)}


def kind_of(value: Any) -> str:
    """The kind of a JSON value."""
    return next((name for python, name in NAMES.items() if type(value) is python), "null")


def read_value(text: str, kinds: set[str]) -> Any:
    """The value that is written on the command line. ValueError for one of no kind that is taken."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    kind = kind_of(value)
    if not kinds or kind in kinds or (kind == "integer" and "number" in kinds):
        return value
    if "string" in kinds:
        return text
    raise ValueError(f"{' or '.join(sorted(kinds))} is expected, not {text[:60]!r}")


def reader(schema: dict[str, Any]) -> Any:
    """The reader of a flag's value, for argparse."""
    kinds = kinds_of(schema)

    def read(text: str) -> Any:
        try:
            return read_value(text, kinds)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def help_of(schema: dict[str, Any], needed: bool) -> str:
    """What the help says of a parameter: its description, and the schema of a complex value."""
    plain = {key: value for key, value in schema.items() if key not in ("description", "default", "type")}
    words = [schema.get("description", ""), "" if needed else "May be left out."]
    if kinds_of(schema) & {"array", "object"}:
        words.append(f"JSON Schema: {json.dumps(dict(plain, type=schema.get('type')), ensure_ascii=False)}")
    elif plain and "anyOf" not in plain:
        words.append(f"({', '.join(f'{key} {json.dumps(plain[key], ensure_ascii=False)}' for key in plain)})")
    return " ".join(filter(None, words)).replace("%", "%%")


def line_parser() -> argparse.ArgumentParser:
    """The parser of the command line, with a command for each action."""
    parser = argparse.ArgumentParser(prog="./play", description=__doc__, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", metavar="ACTION", required=True)
    commands.add_parser("view", help="Show what you see now. It takes no time.", allow_abbrev=False)
    for action in ACTIONS:
        text = action["description"]
        first = text.partition("\n")[0].replace("%", "%%")
        command = commands.add_parser(action["name"], help=first, description=text, allow_abbrev=False)
        command.add_argument(
            "document", nargs="?", metavar="JSON", help="All arguments as one JSON object; '-' reads it from stdin."
        )
        needed = action["parameters"].get("required", ())
        for name, schema in action["parameters"].get("properties", {}).items():
            flags = dict.fromkeys((f"--{name}", f"--{name.replace('_', '-')}"))
            metavar = "|".join(sorted(kinds_of(schema) - {"null"})).upper() or "JSON"
            command.add_argument(
                *flags, dest=DEST + name, type=reader(schema), default=argparse.SUPPRESS, metavar=metavar,
                help=help_of(schema, name in needed),
            )  # fmt: skip
    return parser


def read_document(text: str) -> dict[str, Any]:
    """The arguments in a JSON object, or in that of standard input. ValueError for any other text."""
    try:
        value: Any = json.loads(sys.stdin.read() if text == "-" else text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the arguments are no JSON: {error}") from None
    if kind_of(value) != "object":
        raise ValueError(f"the arguments are a JSON object, not {kind_of(value)}")
    return value


def arguments_of(line: argparse.Namespace) -> dict[str, Any]:
    """The arguments of an action on a parsed line. ValueError where one is missing."""
    arguments = read_document(line.document) if line.document is not None else {}
    typed = {name[len(DEST) :]: value for name, value in vars(line).items() if name.startswith(DEST)}
    arguments.update(typed)
    action = next(action for action in ACTIONS if action["name"] == line.command)
    missing = [name for name in action["parameters"].get("required", ()) if name not in arguments]
    if missing:
        raise ValueError(f"{line.command} needs {', '.join(f'--{name}' for name in missing)}")
    return arguments


def ask(method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """The answer of the game. OSError where nobody answers, or not as the game does."""
    try:
        session: dict[str, Any] = json.loads(SESSION.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise OSError("nobody serves this game now; it goes on when its operator starts it again") from None
    if "over" in session:
        return {"text": session["over"], "ok": method == "GET"}
    address = urlsplit(str(session["url"]))
    connection = http.client.HTTPConnection(address.hostname or "", address.port)
    headers = {"Authorization": f"Bearer {session['token']}", "Content-Type": "application/json"}
    content = None if body is None else json.dumps(body).encode()
    try:
        connection.request(method, f"{address.path}/{path}", content, headers)
        response = connection.getresponse()
        answer = json.loads(response.read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise OSError(f"no answer from the game ({error}); './play view' shows whether it goes on") from None
    finally:
        connection.close()
    if response.status != 200:
        raise OSError(f"the game answers {response.status}: {answer.get('detail', answer)}")
    return answer


def main() -> int:
    """Do what the command line says, and return the exit code."""
    parser = line_parser()
    line = parser.parse_args()
    try:
        if line.command == "view":
            answer = ask("GET", "view")
        else:
            answer = ask("POST", "act", {"action": line.command, "arguments": arguments_of(line)})
    except ValueError as error:
        parser.error(str(error))
    except OSError as error:
        sys.stderr.write(f"./play: {error}\n")
        return UNANSWERED
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `./play view | head` is no error
    sys.stdout.write(f"{answer['text']}\n")
    return 0 if answer["ok"] else REFUSED


if __name__ == "__main__":
    sys.exit(main())
