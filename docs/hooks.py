"""Pages of the site that are generated: API, methods, lessons, sources; and links between them all.

The documents link to each other, and to code, as they do in the repository. A link to code becomes
a link to a page with that file, so that the site needs no other place.
"""

import os
import posixpath
import re
import tomllib
from importlib import import_module
from inspect import isclass, signature
from pathlib import Path

import jupytext
from mkdocs.structure.files import File
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PROJECT = ("CONTRIBUTING.md", "CHANGELOG.md")
PAGE = 1200
"""Words of a page of the changelog at most."""
ROOMS = {
    "methods": "GraphCL, GRACE, GCA, and what needs no training",
    "hardness": "The weight of each negative",
    "losses": "Losses for a training loop of your own",
    "evaluation": "Named protocols and statistics",
    "data": "Graphs from any file or object",
    "views": "Random views of a batch",
    "encoders": "Networks",
    "rivals": "Every other system for nodes",
    "rivals-graphs": "Every other system for sets of graphs",
    "rivals-walks": "Random walks, words and graph kernels",
    "attacks": "Attacks and their victims",
    "training.callbacks": "Watch, stop and record a training",
}
"""The public modules, with a word on each; a module with many names has several pages."""
WALKS = ("deep_graph_kernel", "deepwalk", "graph2vec", "graphlets", "sub2vec", "wl")
BASES = ("training.method.Method", "training.estimator.GraphEstimator")
BASES += ("training.estimator.NodeEstimator",)
TOP = ("load_model", "Beside", "InputError")
"""Public names of the package itself that no public module has."""

GENERATED = ("", "results", "methods")
NUMBER = re.compile(r'<td (?=style="text-align: right;">(?:&lt; )?[-+−–\d][^<a-z]{0,30}</td>)')
LINK = re.compile(r"(\]\()(?!\w+:|#)([^)\s#]+)")


def on_config(config):
    """Add the generated pages to the menu."""
    for entry in config.nav:
        if "API" in entry:
            entry["API"] = [f"api/{name}.md" for name in ("index", *ROOMS)]
        if "Project" in entry:
            place = entry["Project"].index({"Changelog": "CHANGELOG.md"})
            entry["Project"][place] = {"Changelog": list(changelog())}
        if "Results" in entry:
            pages = sorted((DOCS / "results").glob("*.md"))
            entry["Results"] += [f"results/{page.name}" for page in pages]
        if "Methods" in entry:
            entry["Methods"] = ["methods.md", *(f"methods/{name}.md" for name in kinds())]
    return config


def on_files(files, config):
    """Add the generated pages."""

    def add(path, content):
        files.append(File.generated(config, path, content=content))

    add("CONTRIBUTING.md", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    for path, text in (changelog() | api_pages() | method_pages()).items():
        add(path, text)
    for lesson in lessons():
        notebook = jupytext.read(lesson)
        add(f"tutorials/{lesson.stem}.ipynb", jupytext.writes(notebook, fmt="ipynb"))
        if config.extra["run_lessons"]:
            run(notebook)
        add(f"tutorials/{lesson.stem}.md", lesson_page(notebook, lesson.stem))
    for code in sorted(set(linked_code(files))):
        text = (ROOT / code).read_text(encoding="utf-8")
        add(source_page(code), f'# {code}\n\n~~~~python linenums="1"\n{text}~~~~\n')
    return files


def on_page_markdown(markdown, page, config, files):
    """Turn links of the repository into links of the site."""
    here = posixpath.dirname(page.file.src_uri)
    if here.startswith("source"):
        return markdown  # code

    def turned(match):
        target = in_repository(page.file.src_uri, match[2])
        if target is None:
            return match[0]
        site = {"README.md": "index.md"}.get(target, target.removeprefix("docs/"))
        if target.endswith(".py"):
            site = source_page(target)
        return match[1] + posixpath.relpath(site, here or ".")

    for letter, name in (("<", "&lt;"), ("&", "&amp;"), ("~", "~"), ("$", "$")):
        # Generated tables escape these letters; Python's Markdown would show the backslash.
        markdown = markdown.replace(f"\\{letter}", name) if here in GENERATED else markdown
    return LINK.sub(turned, markdown)


def on_page_content(html, page, config, files):
    """Mark the cells of tables that hold a number: these stay in one line."""
    return NUMBER.sub(r'<td class="number" ', html)


def in_repository(page, link):
    """The file of the repository to which a link of a page leads; None if there is none."""
    folder = ROOT if page in PROJECT or page.startswith("CHANGELOG") else (DOCS / page).parent
    path = Path(os.path.normpath(folder / link))
    return path.relative_to(ROOT).as_posix() if path.is_file() else None


def linked_code(files):
    """The files of code to which the pages link."""
    for file in files.documentation_pages():
        for _, link in LINK.findall(file.content_string):
            target = in_repository(file.src_uri, link)
            if target is not None and target.endswith(".py") and "tutorials/" not in target:
                yield target


def source_page(code):
    """The page of a lesson, or the page that shows a file of code."""
    if code.startswith("docs/tutorials/"):
        return f"tutorials/{Path(code).stem}.md"
    return f"source/{code.removesuffix('.py')}.md"


def changelog():
    """The changelog on pages that are not too long, the newest changes first."""
    title, *versions = re.split(r"(?m)^(?=## )", (ROOT / "CHANGELOG.md").read_text("utf-8"))
    parts = []
    for version in versions:
        head, *items = re.split(r"(?m)^(?=\* )", version)
        parts.append(head)
        for item in items:
            if len((parts[-1] + item).split()) > PAGE:
                parts.append(f"{head.splitlines()[0]} (continued)\n\n")
            parts[-1] += item
    pages = [title]
    for part in parts:
        if len((pages[-1] + part).split()) > PAGE and pages[-1] != title:
            pages.append(f"# Changelog, page {len(pages) + 1}\n\n")
        pages[-1] += part
    names = ["CHANGELOG.md", *(f"CHANGELOG-{n}.md" for n in range(2, len(pages) + 1))]
    return dict(zip(names, pages, strict=True))


# The reference, from docstrings.


def api_pages():
    """One page per public module, and one for what the package itself and all methods have."""
    listed = "".join(
        f"* [augcl.{room.split('-')[0]}]({room}.md): {text}\n" for room, text in ROOMS.items()
    )
    inherited = "{members: true, inherited_members: false, heading_level: 3}"
    blocks = "".join(f"\n::: augcl.{n}\n    options: {inherited}\n" for n in BASES)
    top = "".join(f"\n::: {home(name)}\n" for name in TOP)
    pages = {
        "api/index.md": f"# API\n\n`import augcl` gives every method and hardness as `augcl.NAME`, "
        f"and these modules:\n\n{listed}\n## The package\n{top}\n## What every method has\n{blocks}"
    }
    for room, text in ROOMS.items():
        module = import_module(f"augcl.{room.split('-')[0]}")
        names = [n for n in public_names(module) if reference(getattr(module, n), room) == room]
        blocks = "".join(f"\n::: {module.__name__}.{name}\n" for name in names)
        pages[f"api/{room}.md"] = f"# {module.__name__}\n\n{text}.\n{blocks}"
    return pages


def reference(thing, room=None):
    """The page of a thing in the reference; a thing of a room with one page is on that page."""
    path = getattr(thing, "__module__", "").split(".")
    if path[1:2] != ["rivals"]:
        return room or path[1]
    if path[2] in WALKS:
        return "rivals-walks"
    return "rivals" if thing.level == "node" else "rivals-graphs"


def public_names(module):
    """What a module exports; without a list, its own classes and functions."""
    if hasattr(module, "__all__"):
        return module.__all__
    return [n for n, v in vars(module).items() if isclass(v) and v.__module__ == module.__name__]


def home(name):
    import augcl

    return f"{getattr(augcl, name).__module__}.{name}"


# The methods: idea, equation, settings, paper, numbers, deviations.


def kinds():
    """Every method and hardness by the name of its class."""
    from augcl.hardness import CEILING, HARDNESS
    from augcl.runs.models import METHODS

    weights = {kind.__name__: kind for kind in (HARDNESS | CEILING).values()}
    weights.pop("Uniform")
    return {**weights, **METHODS}


def method_pages():
    """One page per method, from its docstring, docs/methods.md, docs/deviations.md, the results."""
    from augcl.runs.models import described_parameters

    equations = tomllib.loads((DOCS / "equations.toml").read_text(encoding="utf-8"))
    listed = (DOCS / "methods.md").read_text(encoding="utf-8")
    pages = {}
    for name, kind in kinds().items():
        _, idea, paper, code = cells(re.search(rf"(?m)^\| `{name}` \|.*$", listed)[0])
        settings = "".join(
            f"| `{parameter}` | `{default!r}` | {text.replace('|', 'or')} |\n"
            for parameter, (default, text) in described_parameters(kind).items()
        )
        measured, differences = numbers(name, kind), deviations(name, kind)
        parts = (
            f"# {name}\n\n{idea}",
            f"    {equations[name].strip().replace(chr(10), chr(10) + '    ')}",
            f"Paper: {paper.replace('../src', '../../src')}",
            f"Code: {code.replace('../src', '../../src')}. "
            f"Reference: [augcl.{name}](../api/{reference(kind)}.md).",
            f"## Settings\n\n| parameter | default | meaning |\n|---|---|---|\n{settings}",
            f"## Our numbers\n\n{measured or 'In no table of results.'}",
            f"## Deviations\n\n{differences or 'None that we know of.'}\n\n"
            "All: [deviations](../deviations.md).",
        )
        pages[f"methods/{name}.md"] = "\n\n".join(parts)
    return pages


def cells(row):
    row = row.strip().removeprefix("|").removesuffix("|")
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)]


OTHER_NAMES = {
    "AffinityUncertainty": ("AUGCL",),
    "Oracle": ("oracle",),
    "NearestOut": ("nearest",),
    "MorganFingerprints": ("Morgan",),
    "WLFeatures": ("training-free",),
    "Propagation": ("training-free",),
    "RawFeatures": ("raw features",),
    "WLKernel": ("WL kernel",),
    "GraphletKernel": ("graphlets",),
    "JOAOv2": ("JOAO",),
    "DeepWalkFeatures": ("DeepWalk with features", "DeepWalk+features"),
}
"""Names of methods in tables and texts, besides their own and the paper's."""


def names_of(name):
    """The names of a method in tables and texts."""
    from augcl.runs.models import PAPER_NAMES

    return dict.fromkeys((name, PAPER_NAMES.get(name, name), *OTHER_NAMES.get(name, ())))


def numbers(name, kind):
    """The cells of a method in the tables of results, beside the published numbers."""
    levels = {"graph": ("graphs", "systems"), "node": ("nodes",)}
    pages = levels.get(getattr(kind, "level", None), (*levels["graph"], *levels["node"]))
    found = {}
    for page in (*pages, "hardness", "other_data"):
        text = (DOCS / "results" / f"{page}.md").read_text(encoding="utf-8")
        for section in re.split(r"(?m)^## ", text)[1:]:
            place = f"[{section.splitlines()[0]}](../results/{page}.md)"
            for dataset, row, measured, published in measured_in(section, names_of(name)):
                found.setdefault((dataset, row, measured, published), place)
    if not found:
        return ""
    body = "".join(f"| {' | '.join(key)} | {place} |\n" for key, place in found.items())
    return (
        "Accuracy in %, unless the table says otherwise; the table also tells the settings.\n\n"
        "| data set | row | measured | published | table |\n|---|---|---:|---:|---|\n" + body
    )


def measured_in(section, names):
    """Data set, name, measured and published number of each cell of a method in a section.

    A row may have the name with an addition, such as HSAN-20, if there is none with the name alone.
    Tables have a row per method, or a column per method and a row per data set.
    """
    for part in re.split(r"(?m)^### ", section)[1:]:
        dataset, table = part.split("\n", 1)
        lines = [cells(line) for line in re.findall(r"(?m)^\|.*\|$", table)]
        if not lines:
            continue
        head, rows = lines[0], lines[2:]
        if head[1] == "measured":
            column = head.index("published") if "published" in head else None
            for row in named([row[0] for row in rows], names):
                values = next(values for values in rows if values[0] == row)
                yield dataset, row, values[1], "" if column is None else values[column]
        elif dataset == "Scores":
            for method in named(head, names):
                for values in rows:
                    if values[head.index(method)] not in ("", "–"):
                        yield values[0], method, values[head.index(method)], ""


def named(found, names):
    """Those that are one of the names; if none is, those that begin with one."""
    return [n for n in found if n in names] or [
        n for n in found if n.startswith(tuple(f"{name}{c}" for name in names for c in "- "))
    ]


def deviations(name, kind):
    """The rows and items of docs/deviations.md that are about the method."""
    text = (
        (DOCS / "deviations.md").read_text(encoding="utf-8").replace("](#", "](../deviations.md#")
    )
    parts = []
    for section in re.split(r"(?m)^#+ ", text)[1:]:
        lines = re.findall(r"(?m)^\| .*\|$", section)
        kept = [row for row in lines[1:] if about(name, kind, section.split("\n")[0], cells(row))]
        if kept:
            rule = "|---" * len(cells(lines[0])) + "|"
            parts.append("\n".join((lines[0], rule, *kept)))
        items = re.findall(r"(?ms)^\* .*?(?=\n\*|\n\n|\Z)", section)
        parts.append("\n".join(item for item in items if told(name).search(item[:80])))
    return "\n\n".join(part for part in parts if part)


def about(name, kind, heading, row):
    """Whether a row of differences is about a method: by its name, its table, or its argument."""
    first, argument = row[0], row[-1]
    if told(name).search(first):
        return True
    if heading.startswith("Differences"):  # between AUGCL's paper, its code and this library
        own = set(re.findall(r"`(\w+)=`", argument)) & set(signature(kind).parameters)
        of_base = own & {"positive_in_denominator", "edge_features", "edge_labels"}
        return name == "AffinityUncertainty" or f"{name}(" in argument or bool(of_base)
    return heading == "At node level" and name in ("GCA", "GRACE") and ":" not in first


def told(name):
    """A pattern of a method's names as words."""
    words = "|".join(map(re.escape, names_of(name)))
    return re.compile(rf"(?i)(?<![\w-])({words})(?![\w-])")


# The lessons.


def lessons():
    return sorted((DOCS / "tutorials").glob("*.py"))


def run(notebook, folder=None):
    """Run a lesson in a process of its own; an error in it is an error here."""
    resources = {} if folder is None else {"metadata": {"path": str(folder)}}
    return NotebookClient(notebook, timeout=300, resources=resources).execute()


def lesson_page(notebook, name):
    """A lesson as Markdown: its texts, its code, and what the code has shown."""
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        told = (o for o in cell.get("outputs", ()) if o.get("name") != "stderr")
        parts += map(shown, told)
    title, *rest = parts
    note = f"[Download this lesson as a notebook]({name}.ipynb)."
    return "\n\n".join((title, note, *rest))


def shown(output):
    data = output.get("data", {})
    if "image/png" in data:
        raw = "".join(data["image/png"].split())
        return f'<img alt="What the code above draws" src="data:image/png;base64,{raw}">'
    text = output.get("text", data.get("text/plain", ""))
    return f"```text\n{text.rstrip()}\n```"
