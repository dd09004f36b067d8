# SPDX-License-Identifier: GPL-2.0-only
"""What `weir report` asks for: its options as a map (see report-command.cc)."""
import pathlib

from weir.errors import InputError, Missing
from weir.figure import FORMATS, Choice, format_of, render
from weir.opening import open_result
from weir.output_files import OutputFiles
from weir.plotting import gather
from weir.report import Report


def write_figure(options, results, choice, files):
    """--figure NAME -o FILE."""
    kind = format_of(options["output"])
    try:
        figure, data = gather(options["figure"], results, choice)
    except Missing as lacking:
        raise InputError(f"--figure {options['figure']}: {results[0].path}: {lacking}") from None
    files.add(options["output"], render(figure, data, choice, kind))
    return [f"figure in {options['output']}"]


def write_report(options, results, choice, files):
    """The page, and where --figures names a folder every figure in every format."""
    report = Report(results, choice)
    files.add(options["output"], report.html().encode())
    said = [f"report in {options['output']} ({len(report.drawn)} figures)"]
    if options["figures"]:
        folder = pathlib.Path(options["figures"])
        for key, figure, _, data in report.drawn:
            for kind in FORMATS:
                path = folder / f"{key}.{kind}"
                files.check("--figures", path)
                files.add(path, render(figure, data, choice, kind))
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
    if options["figure"]:
        format_of(options["output"])
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
