"""The `twoheads` command: exits 0 on success, 1 when a check failed, 2 on bad usage or bad input.

With `--json` a subcommand prints one JSON document on standard output and nothing else there; progress and
messages go to standard error. Each subcommand is a module of `reports.commands`, imported when it is called.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

import click

from twoheads.errors import InputError

__all__ = ["main"]

_COMMANDS = {
    "simulate": "Run a construction on attention input and compare it with direct attention.",
    "verify": "Check the proof obligations with every solver, and the mutants of each.",
    "audit": "Hold every item of the paper against a machine, as printed and as repaired.",
    "explain": "Print the derivation of an item of the paper, step by step.",
    "report": "Run everything and write the report: an HTML page and a JSON file.",
    "count": "Print what each construction costs for given sizes, beside the paper's bound.",
    "bench": "Time the simulators against direct attention, and count calls as N grows.",
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"reports.commands.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="twoheads")
def twoheads() -> None:
    """Run, prove and audit the simulation of large transformers by small ones."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; bad input ends in one sentence on standard error and code 2."""
    try:
        code = twoheads.main(arguments, standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit("twoheads: interrupted.")
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help(), err=True)
        sys.exit(2)
    except click.ClickException as error:
        _refuse(error.format_message())
    except InputError as error:
        _refuse(str(error))
    except BrokenPipeError:
        sys.exit(1)
    else:
        sys.exit(code if isinstance(code, int) else 0)


def _refuse(message: str) -> None:
    click.echo(f"twoheads: {' '.join(message.split())}", err=True)
    sys.exit(2)
