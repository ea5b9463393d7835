"""The command ``ietest-fast``: finds the command's module when it is asked for, not before."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import signal
import sys
import warnings
from typing import TYPE_CHECKING, Any, NoReturn, cast

import click

import ietest_fast

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

TRACEBACK = "IETEST_TRACEBACK"
"""Environment variable: if set, errors that nobody has foreseen show where they come from."""

# name -> (module, the line that `ietest-fast --help` shows)
COMMANDS = {
    "run": ("run", "Run the IE test: transform, retrain, compare, decide."),
    "eval": ("eval", "Compare a finished model's answers on two versions of a test set."),
    "stress": ("stress", "Run a finished model on stress tests: distraction, noise, competence."),
    "consistency": ("consistency", "Measure how alike a model answers paraphrases of an item."),
    "difficulty": ("difficulty", "Mark the items of a file as easy or difficult (AFLite)."),
    "masked": ("masked", "Measure how well a masked language model infers hidden words."),
    "export": ("export", "Write a fine-tuned classifier as an ONNX folder, and check it."),
    "test": ("test", "The paired test alone, from two outcome columns or four counts."),
    "power": ("power", "Plan a paired test: power, sample size, detectable difference."),
    "simulate": ("simulate", "Simulate null tables: which test keeps its level on such data?"),
    "transform": ("transform", "Rephrase the texts of a file by synonyms."),
    "templates": ("templates", "Make corpora from logic templates, with labels that are proved."),
    "report": ("report", "Show finished runs: one page with figures, tables and examples."),
    "annotate": ("annotate", "Mark a sample of rephrased texts as sound or not, and sum it up."),
    "describe": ("describe", "Say what is in a dataset, and what would be dropped."),
}


class LazyCommand(click.Command):
    """Stands in for a command in listings; imports the real one only to run it."""

    def __init__(self, name: str, module: str, short_help: str) -> None:
        super().__init__(name, short_help=short_help)
        self._module = module

    def load(self) -> click.Command:
        """Import the command's module and give its ``command``."""
        module = importlib.import_module(f"ietest_fast.cli.{self._module}")
        command: click.Command = module.command
        return command


class LazyGroup(click.Group):
    """A group whose help is printed without importing a single command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Replace the placeholder by the real command when it is about to run."""
        name, command, rest = super().resolve_command(ctx, args)
        if isinstance(command, LazyCommand):
            command = command.load()
        return name, command, rest


@click.group(
    cls=LazyGroup,
    commands={name: LazyCommand(name, *rest) for name, rest in COMMANDS.items()},
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(ietest_fast.__version__, prog_name="ietest-fast")
def cli() -> None:
    """Find out whether a text classifier changes its mind when a sentence is rephrased."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; mistakes of the input end with status 1 and no traceback."""
    from ietest_fast.errors import IetestError, shorten_error
    from ietest_fast.runtime import claim_process

    if arguments is None:
        claim_process()
        _check_streams()
        _end_cleanly()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal without Unicode shows a question mark for what it lacks.
            stream.reconfigure(errors="replace")
    try:
        with _warnings_told():
            status = _run(arguments)
        sys.stdout.flush()
    except click.ClickException as error:
        _tell_click_error(error)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _stop("Interrupted.", status=130)
    except BrokenPipeError:
        # The reader (head, say) has seen enough. What Python still holds goes nowhere.
        _throw_output_away()
        sys.exit(0)
    except MemoryError as error:
        # Nothing that needs much memory itself: what there was has just been let go.
        what = " ".join(str(error).split())
        _stop(f"Error: there is not enough memory{f' ({what})' if what else ''}")
    except IetestError as error:
        first, *rest = error.lines
        _stop(f"Error: {first}", *rest)
    except OSError as error:
        _stop(f"Error: {_name_place(error)}: {error.strerror or error}", drops_output=True)
    except Exception as error:
        if TRACEBACK in os.environ:
            raise
        _stop(
            f"Error: {_name_place(error)}: {type(error).__name__}: {shorten_error(error)} (this is "
            f"a defect of ietest-fast; please report it with what {TRACEBACK}=1 shows)",
            drops_output=True,
        )
    sys.exit(status)


def _stop(*lines: str, status: int = 1, drops_output: bool = False) -> NoReturn:
    """End the command; standard output may be what could not be written (a full disk)."""
    from ietest_fast.report.terminal import echo

    with contextlib.suppress(OSError):  # the terminal may be gone
        echo(*lines, err=True)
    if drops_output:
        _throw_output_away()
    sys.exit(status)


def _name_place(error: Exception) -> str:
    """Name what an error is about that nobody has foreseen, as far as is known."""
    if isinstance(error, OSError) and error.filename is not None:
        return str(error.filename)
    found, module = "", ""
    step = error.__traceback__
    while step is not None:
        module = str(step.tb_frame.f_globals.get("__name__"))
        path = step.tb_frame.f_locals.get("path") if module.startswith("ietest_fast.") else None
        # The last function of this package that had a file in its hands.
        found = str(path) if isinstance(path, os.PathLike) else found
        step = step.tb_next
    if isinstance(error, OSError) and (module in {"click.utils", __name__} or not found):
        return "standard output"
    return found or "unforeseen"


@contextlib.contextmanager
def _warnings_told() -> Iterator[None]:
    """Print this package's own warnings as sentences, once each."""
    from ietest_fast.errors import IetestWarning
    from ietest_fast.escapes import escape
    from ietest_fast.report.terminal import echo

    told: set[str] = set()
    with warnings.catch_warnings():
        show, write = warnings.showwarning, warnings.formatwarning

        def tell(message: Any, category: type[Warning], *rest: Any) -> None:
            if not issubclass(category, IetestWarning):
                show(message, category, *rest)
            elif str(message) not in told:
                told.add(str(message))
                echo(f"Warning: {message}.", err=True)

        def write_safely(message: Any, *rest: Any) -> str:
            return write(escape(message), *rest)

        warnings.simplefilter("always", IetestWarning)
        warnings.showwarning = cast("Any", tell)
        warnings.formatwarning = cast("Any", write_safely)
        try:
            yield
        finally:
            warnings.formatwarning = write


def _tell_click_error(error: click.ClickException) -> None:
    """Print what click's own ``show`` would, through the door for what leaves."""
    from ietest_fast.errors import IetestError
    from ietest_fast.report.terminal import echo

    if isinstance(error, click.UsageError) and error.ctx is not None:
        context = error.ctx
        echo(*context.get_usage().splitlines(), err=True)
        if context.command.get_help_option(context) is not None:
            option = max(context.help_option_names, key=len)
            echo(f"Try '{context.command_path} {option}' for help.\n", err=True)
    message = error.format_message()
    # Choices, and mistakes of a configuration, stand on lines of their own.
    lines = message.splitlines() if isinstance(error, click.MissingParameter) else [message]
    # Several mistakes, which the message has joined.
    if isinstance(error.__cause__, IetestError) and len(error.__cause__.lines) > 1:
        lines = list(error.__cause__.lines)
    echo(f"Error: {lines[0]}", *(f"  {line.strip()}" for line in lines[1:]), err=True)


def _throw_output_away() -> None:
    with contextlib.suppress(io.UnsupportedOperation):  # no file, where output is captured
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _check_streams() -> None:
    """Fill the places of standard streams that the caller has closed.

    Otherwise the next file that is opened gets the place, and messages are written into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this one
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if sys.stdout is None:
        sys.exit("Error: standard output is closed; redirect it to a file or to /dev/null")


def _end_cleanly() -> None:
    """Turn signals that end a process into exceptions, so that temporary files go with it."""

    def stop(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)  # who asks twice does not wait
        sys.exit(128 + number)

    for name in ("SIGHUP", "SIGQUIT", "SIGTERM"):
        number = getattr(signal, name, None)  # not on every system
        # Under nohup the first is ignored, and stays so.
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, stop)


def _check_encoding(arguments: list[str]) -> None:
    """Refuse names that no other tool could write down either: in JSON, in Parquet, on a page."""
    for each in arguments:
        if not _is_utf8(each):
            shown = each.encode("utf-8", "backslashreplace").decode()
            if _is_utf8(os.fsencode(each).decode("utf-8", "surrogateescape")):
                raise click.UsageError(
                    f"{shown}: cannot be written in this locale's encoding, "
                    f"{sys.getfilesystemencoding()}; set PYTHONUTF8=1, or LC_ALL=C.UTF-8."
                )
            raise click.UsageError(f"{shown}: is not UTF-8; rename the file.")


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _watch(given: list[str]) -> contextlib.AbstractContextManager[None]:
    """Say that a command is still at work, unless it is over at once, or waits for a person."""
    name = next((each for each in given if each in COMMANDS), "")
    if name == "annotate" or not {"-h", "--help"}.isdisjoint(given):
        return contextlib.nullcontext()
    from ietest_fast.report.progress import watch

    return watch(f"ietest-fast {name}")


def _run(arguments: list[str] | None) -> int:
    # Not cli.main(): it would turn a closed pipe into status 1.
    try:
        given = sys.argv[1:] if arguments is None else list(arguments)
        _check_encoding(given)
        with cli.make_context("ietest-fast", given) as context, _watch(given):
            status = cli.invoke(context)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    return status if isinstance(status, int) else 0
