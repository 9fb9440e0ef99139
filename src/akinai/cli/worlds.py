"""Commands about worlds: the catalogue, and what generates a world's files, such as `akinai market generate`."""

from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from akinai.cli.help import translate_help
from akinai.cli.options import Json, argument, flag, option, whole_number
from akinai.cli.output import command_line, print_json, print_next_steps, print_page
from akinai.plugins import plugins

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo
    from rich.console import RenderableType

    from akinai.runtime.export.generate import GeneratedFolder


def worlds(
    world: Annotated[str | None, argument("WORLD", "A world, to read all about it.")] = None,
    as_json: Json = False,
) -> None:
    """List the worlds: who acts in them, their presets and their agents."""
    from akinai import worlds
    from akinai.report.tables.catalogue import world_page, worlds_table
    from akinai.runtime.describe import describe

    if world is not None:
        described = describe(worlds.load(world))
        return print_json(described.to_json()) if as_json else print_page(lambda width: world_page(described, width))
    catalogue = [describe(worlds.load(name)) for name in worlds.names()]
    if as_json:
        return print_json({"worlds": [described.to_json() for described in catalogue]})
    print_page(lambda width: worlds_table(catalogue, width))
    return print_next_steps(
        {f"akinai worlds {name}": "its presets, agents, actions and settings" for name in worlds.names()}
    )


class _WorldCommands(TyperGroup):
    """The commands of a world that generates files; the world is loaded when its command is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return ["generate"]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _generate_command(str(self.name)) if cmd_name == "generate" else None


def world_apps() -> list[typer.Typer]:
    """A group of commands for each world that generates files."""
    return [_world_app(name) for name in sorted(plugins("akinai.generators"))]


def _world_app(name: str) -> typer.Typer:
    about = f"Generate input files for {name} runs."
    app = typer.Typer(name=name, cls=_WorldCommands, no_args_is_help=True, help=about)
    app.callback()(lambda: None)
    return app


def _generate_command(world: str) -> Any:
    """The command `generate` of a world, with a flag for each option of its generator."""
    from akinai.runtime.export.generate import generate_files, generator_of

    generator = generator_of(world)

    def generate(output: str, seed: int, as_json: bool, **options: Any) -> None:
        folder = generate_files(world, output, seed=seed, **options)
        if as_json:
            return print_json(folder.to_json())
        print_page(lambda width: _generated_page(folder, width))
        play = command_line(None, "run", world, "--set", f"{generator.setting}={folder.folder}")
        return print_next_steps({play: "play it"})

    output = option("-o", "--output", metavar="DIR", help="The folder to write to; it must be new or empty.")
    seed = option("--seed", metavar="N", help="The seed that decides all chance.", default="1", parser=whole_number)
    keyword_only = Parameter.KEYWORD_ONLY
    parameters = [
        Parameter("output", keyword_only, annotation=Annotated[str, output]),
        *(_parameter(name, field) for name, field in generator.options.model_fields.items()),
        Parameter("seed", keyword_only, default=1, annotation=Annotated[int, seed]),
        Parameter("as_json", keyword_only, default=False, annotation=Json),
    ]
    generate.__signature__ = Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess] - typer reads it
    generate.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    app = typer.Typer(add_completion=False, rich_markup_mode="rich")
    app.command("generate", help=generator.about)(generate)
    command = typer.main.get_command(app)
    translate_help(command)
    return command


def _parameter(name: str, field: "FieldInfo") -> Parameter:
    """An option of a generator as a parameter of its command."""
    spelled, help = f"--{name.replace('_', '-')}", field.description or ""
    kind: Any = field.annotation
    if kind is bool:
        declared = flag(spelled, help=help)
    else:
        default = field.title or str(field.default)
        number = kind in (int, int | None)
        parser, metavar = (whole_number, "N") if number else (None, "NAME")
        declared = option(spelled, metavar=metavar, help=help, default=default, parser=parser)
    return Parameter(name, Parameter.KEYWORD_ONLY, default=field.default, annotation=Annotated[kind, declared])


def _generated_page(folder: "GeneratedFolder", width: int) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from akinai.core.money import format_cents
    from akinai.core.presentation.tables import Column
    from akinai.report.language import fill, translate, translate_record
    from akinai.report.tables.columns import fit_table

    generated = folder.generated
    name_head, value_head = generated.heads
    amounts = [format_cents(cents) for cents in generated.values_cents.values()]
    names = Column(name_head, [translate(name) for name in generated.values_cents], words=True)
    title = Text(fill("{files} in {folder}", files=translate_record(generated.title), folder=folder.folder), "bold")
    return Group(title, Text(""), fit_table([names, Column(value_head, amounts)], width))
