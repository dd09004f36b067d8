# SPDX-License-Identifier: GPL-2.0-only
"""What `weir report` asks for: its options as a map (see report-command.cc)."""
import pathlib

from weir.errors import InputError, Missing
from weir.figure import FORMATS, Choice, format_of, render
from weir.figures import FIGURES, find_figure, gather
from weir.opening import open_result
from weir.output_files import OutputFiles
from weir.report import Report


def given(options):
    """The options that only some figures follow, of those that are there."""
    return [name for name in ("ranks", "window", "link", "measured") if options[name] is not None]


def followers(option):
    """The names of the figures that follow an option."""
    return [figure.name for figure in FIGURES if option in figure.choices]


def check_options(options):
    """Raises InputError for what fits neither the page nor the figure that is asked for."""
    if not options["figure"]:
        if pathlib.Path(options["output"]).suffix not in (".html", ".htm"):
            raise InputError(f"-o: found '{options['output']}', expected a name that ends in "
                             ".html, or --figure beside it")
        return
    format_of(options["output"])
    figure = find_figure(options["figure"])
    for option in given(options):
        if option not in figure.choices:
            raise InputError(f"--{option}: found it with --figure {figure.name}, expected "
                             f"--figure {' or '.join(followers(option))} with it")


def write_figure(options, results, choice, files):
    """--figure NAME -o FILE."""
    kind = format_of(options["output"])
    try:
        figure, data = gather(options["figure"], results, choice)
    except Missing as lacking:
        raise InputError(f"--figure {options['figure']}: {results[0].path}: {lacking}") from None
    files.add("-o", options["output"], render(figure, data, choice, kind), kind)
    return [f"figure in {options['output']}"]


def write_report(options, results, choice, files):
    """The page, and where --figures names a folder every figure in every format."""
    report = Report(results, choice)
    for option in given(options):
        if not any(option in figure.choices for _, figure, _, _ in report.drawn):
            raise InputError(f"--{option}: found it where no figure is drawn that follows it, "
                             f"expected {' or '.join(followers(option))} among the figures")
    files.add("-o", options["output"], report.html().encode(), "html")
    count = len(report.drawn)
    said = [f"report in {options['output']} ({count} figure{'' if count == 1 else 's'})"]
    if options["figures"]:
        folder = pathlib.Path(options["figures"])
        for key, figure, _, data in report.drawn:
            for kind in FORMATS:
                path = folder / f"{key}.{kind}"
                files.check("--figures", path)
                files.add("--figures", path, render(figure, data, choice, kind), kind)
        said.append(f"figures in {folder}: NAME.{', NAME.'.join(FORMATS)}")
    said += [f"left out of {', '.join(names)}: {figure}: {what}; {remedy}"
             for (figure, what, remedy), names in report.missing.items()]
    return said


def run(options):
    """Does what the options say; the lines to print."""
    choice = Choice(ranks=options["ranks"], window=options["window"] and tuple(options["window"]),
                    link=options["link"], measured=options["measured"], title=options["title"])
    inputs = options["results"] + [choice.measured] * bool(choice.measured)
    files = OutputFiles(inputs)
    files.check("-o", options["output"])
    check_options(options)
    results = [open_result(path) for path in options["results"]]
    made = None
    if options["figures"]:
        folder = pathlib.Path(options["figures"])
        made = None if folder.is_dir() else folder
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"--figures: cannot make the folder '{folder}': {error.strerror}"
                             ) from None
    try:
        write = write_figure if options["figure"] else write_report
        said = write(options, results, choice, files)
        files.commit()
        made = None
        return said
    finally:
        if made:
            made.rmdir()
