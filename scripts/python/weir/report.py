# SPDX-License-Identifier: GPL-2.0-only
"""One self-contained HTML page of results: figures as inline SVG, tables, no script, no network."""
import base64
import html
import re

import pandas

from weir.errors import Missing
from weir.figure import render
from weir.figures import FIGURES
from weir.quantity import in_seconds
from weir.result import tell_apart
from weir.validation import suites_of

TABLE_ROWS = 40  # of a figure's data that the page shows; its CSV has all
STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.45 system-ui, "DejaVu Sans", sans-serif; color: #1a1a1a; background: #fff;
       margin: 0 auto; padding: 1.2rem; max-width: 110rem; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem;
       border-bottom: 1px solid #ccc; padding-bottom: .2rem; }
nav a { margin-right: 1rem; } a { color: #0059a6; }
.side { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(34rem, 100%), 1fr));
        gap: 1.5rem; align-items: start; }
figure { margin: 0; min-width: 0; max-width: 62rem; } figure svg { width: 100%; height: auto; }
figcaption { color: #333; font-size: .9rem; max-width: 60rem; }
h3 { font-size: 1rem; margin: .4rem 0; }
.scroll { overflow-x: auto; max-height: 26rem; overflow-y: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .6rem; text-align: left; border-bottom: 1px solid #e4e4e4;
         white-space: nowrap; }
th { position: sticky; top: 0; background: #f6f6f6; }
td.number { text-align: right; }
details { margin: .4rem 0; } summary { cursor: pointer; color: #0059a6; }
pre { background: #f6f6f6; padding: .8rem; overflow-x: auto; font-size: .8rem; }
@media print { details, nav { display: none; } figure { break-inside: avoid; } }
"""


def cell_html(value):
    """A cell of a table; numbers to the right."""
    if isinstance(value, str):
        return f"<td>{html.escape(value)}</td>"
    text = "" if pandas.isna(value) else f"{value:.6g}" if isinstance(value, float) else value
    return f'<td class="number">{html.escape(str(text))}</td>'


def table_html(frame):
    """A frame as an HTML table."""
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in frame)
    body = "\n".join(f"<tr>{''.join(map(cell_html, row))}</tr>"
                     for row in frame.itertuples(index=False, name=None))
    return (f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n'
            f"<tbody>{body}</tbody></table></div>")


def times_of(kind, table, times):
    """Of a job's part of a table: how many rows it has of a kind, and the times of these."""
    plural = "" if len(times) == 1 else "s"
    recorded = " recorded" if table.attrs.get("rows_left_out", 0) else ""
    return {"what": f"{len(times):,} {kind}{plural}{recorded}", "mean": in_seconds(times.mean()),
            "median": in_seconds(times.median()), "p95": in_seconds(times.quantile(0.95)),
            "last": in_seconds(times.iloc[-1])}


def jobs_of(result):
    """A row a job: its steps, its calls of a collective, or its flows, whichever it has first."""
    rows = {}
    if result.has("steps", "job", "duration"):
        steps = result.table("steps").astype({"job": str})
        for job, own in steps.groupby("job", sort=False):
            rows[job] = {"job": job, **times_of("step", steps, own["duration"])}
            if result.has("ranks", "job"):
                ranks = int((result.table("ranks")["job"].astype(str) == job).sum())
                rows[job]["GPUs"] = str(ranks)
    if result.has("collectives", "job", "start", "finish", "ranks"):
        calls = result.table("collectives").astype({"job": str})
        for job, own in calls.groupby("job", sort=False):
            if job not in rows:
                rows[job] = {"job": job, **times_of("call", calls, own["finish"] - own["start"]),
                             "GPUs": str(own["ranks"].max())}
    if result.has("flows", "job", "fct"):
        flows = result.table("flows").astype({"job": str})
        for job, own in flows.groupby("job", sort=False):
            if job not in rows:
                rows[job] = {"job": job, **times_of("flow", flows, own["fct"])}
    return list(rows.values())


def suite_rows(result):
    """A row a suite of a validation: how many cases, and what became of its statements."""
    rows = []
    for name, cases in suites_of(result).items():
        verdicts = result.table(f"validation/{name}/statements")["verdict"].value_counts()
        met = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
        rows.append({"suite": name, "title": cases.attrs["title"],
                     "fidelity": cases.attrs.get("fidelity", ""), "what": f"{len(cases):,} cases",
                     "statements": met})
    return rows


def summary_of(result):
    """One row a job: what a reader wants to know first."""
    base = {"result": result.label, "title": result.title,
            "fidelity": result.provenance.get("mode", "")}
    if result.is_sweep:
        return [{**base, "what": f"{len(result.cases):,} cases of {result.cases.attrs['varied']}"}]
    if result.kind == "validation":
        return [{**base, **row} for row in suite_rows(result)]
    rows = [{**base, **row} for row in jobs_of(result)] or [base]
    events = result.table("summary").attrs.get("events") if "summary" in result else None
    for row in rows:
        if events is not None:
            row["events"] = f"{events:,}"
        if result.has("links", "name", "utilization"):
            busiest = result.table("links").nlargest(1, "utilization").iloc[0]
            row["busiest link"] = f"{busiest['name']} ({busiest['utilization']:.1%})"
    return rows


def tables_of(result):
    """What the result holds: its tables, how many rows each has, and their attributes."""
    rows = []
    for name in result.tables:
        frame = result.table(name)
        attributes = "; ".join(f"{key}: {value}" for key, value in frame.attrs.items()
                               if key not in ("units", "long_name") and value not in ("", None))
        rows.append({"table": name, "rows": f"{len(frame):,}", "attributes": attributes})
    return pandas.DataFrame(rows)


def svg_element(svg, prefix):
    """The svg element of a file, to stand in a page: its ids begin with a prefix."""
    text = svg.decode("utf-8")
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg"):], flags=re.DOTALL)
    text = re.sub(r'(<image\b[^>]*?) id="[^"]*"', r"\1", text)  # equal images have one id
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = re.sub(r'url\(#', f'url(#{prefix}-', text)
    text = re.sub(r'href="#', f'href="#{prefix}-', text)
    return text.strip()


def figure_html(figure, data, choice, key, heading):
    """A figure with its caption, its table and its CSV."""
    svg = svg_element(render(figure, data, choice, "svg", inline=True), key)
    name = html.escape(f"{figure.title}: {heading}" if heading else figure.title)
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{name}"', 1)
    head = f"<h3>{html.escape(heading)}</h3>\n" if heading else ""
    csv = base64.b64encode(render(figure, data, choice, "csv")).decode()
    more = f", the first {TABLE_ROWS} of {len(data):,} rows" if len(data) > TABLE_ROWS else ""
    return (f'<figure id="{key}">{head}{svg}\n'
            f"<figcaption>{html.escape(figure.caption(data))}</figcaption>\n"
            f"<details><summary>Data{more}</summary>{table_html(data.head(TABLE_ROWS))}</details>"
            f'<p><a download="{key}.csv" href="data:text/csv;base64,{csv}">{key}.csv</a></p>'
            "</figure>\n")


class Report:
    """A report being made: each figure of each result once, and what each lacks."""

    def __init__(self, results, choice):
        self.results = results
        self.choice = choice
        self.drawn = []    #: (key, figure, heading, data)
        self.missing = {}  #: by (figure, what, remedy): the names of the results
        tell_apart(results)
        for figure in FIGURES:
            own = [result for result in results if result.kind == figure.of]
            groups = [(own, "all results")] if figure.joint and own else [
                ([result], result.label) for result in own]
            for group, name in groups:
                self._gather(figure, group, name)

    def _gather(self, figure, group, name):
        key = figure.name if figure.joint or len(self.results) == 1 else f"{figure.name}-{name}"
        key = re.sub(r"[^\w.-]", "-", key)
        try:
            data = figure.data(group, self.choice)
        except Missing as lacking:
            if not (figure.name == "comparison" and len(group) == 1):
                self.missing.setdefault((figure.name, lacking.what, lacking.remedy), []).append(
                    name)
            return
        heading = name if len(self.results) > 1 and not figure.joint else ""
        self.drawn.append((key, figure, heading, data))

    def html(self):
        """The page."""
        titles = dict.fromkeys(result.title or result.label for result in self.results)
        title = self.choice.title or " and ".join(titles)
        sections = []
        for figure in FIGURES:
            own = [one for one in self.drawn if one[1] is figure]
            if own:
                plain = type(self.choice)(**{**vars(self.choice), "title": ""})
                body = "".join(figure_html(figure, data, plain, key, heading)
                               for key, _, heading, data in own)
                sections.append((figure.name, figure.title, f'<div class="side">{body}</div>'))
        summary = pandas.DataFrame([row for result in self.results for row in summary_of(result)])
        sections.insert(0, ("summary", "Summary", table_html(summary.fillna(""))))
        if self.missing:
            missing = pandas.DataFrame(
                [(figure, ", ".join(names), what, remedy)
                 for (figure, what, remedy), names in self.missing.items()],
                columns=["figure", "result", "why it is left out", "how to get it"])
            sections.append(("missing", "Figures left out", table_html(missing)))
        sections.append(("provenance", "Provenance", self._provenance()))
        links = "".join(f'<a href="#section-{key}">{html.escape(name)}</a>'
                        for key, name, _ in sections)
        body = "".join(f'<section id="section-{key}"><h2>{html.escape(name)}</h2>\n{content}\n'
                       "</section>\n" for key, name, content in sections)
        return ("<!DOCTYPE html>\n"
                f'<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
                '<meta name="viewport" content="width=device-width, initial-scale=1">'
                f"<style>{STYLE}</style></head>\n<body>"
                f"<header><h1>{html.escape(title)}</h1></header>"
                f"<nav>{links}</nav>\n<main>{body}</main></body></html>\n")

    def _provenance(self):
        """Versions, seeds and scenarios of the results, as their files have them."""
        parts = []
        for result in self.results:
            rows = {"file": result.path, "title": result.title,
                    **{key: value for key, value in result.provenance.items()
                       if "\n" not in str(value)}}
            table = pandas.DataFrame({"": rows.keys(), "value": map(str, rows.values())})
            texts = "".join(f"<details><summary>{html.escape(key)}</summary><pre>"
                            f"{html.escape(str(value))}</pre></details>"
                            for key, value in result.provenance.items() if "\n" in str(value))
            parts.append(f"<article>{table_html(table)}{texts}<h3>Tables</h3>"
                         f"{table_html(tables_of(result))}</article>")
        return f'<div class="side">{"".join(parts)}</div>'
