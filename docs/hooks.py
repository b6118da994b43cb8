"""Pages of the site that are generated: API, methods, lessons, sources; and links between them all.

The documents link to each other, and to code, as they do in the repository. A link to code becomes
a link to a page with that file, so that the site needs no other place.
"""

import os
import posixpath
import re
import tomllib
from importlib import import_module
from inspect import isclass
from pathlib import Path

import jupytext
from mkdocs.structure.files import File
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PROJECT = ("CONTRIBUTING.md", "CHANGELOG.md")
ROOMS = {
    "methods": "GraphCL, GRACE, GCA, and what needs no training",
    "hardness": "The weight of each negative",
    "losses": "Losses for a training loop of your own",
    "evaluation": "Named protocols and statistics",
    "data": "Graphs from any file or object",
    "views": "Random views of a batch",
    "encoders": "Networks",
    "rivals": "Every other system",
    "attacks": "Attacks and their victims",
    "training.callbacks": "Watch, stop and record a training",
}
"""The public modules, with a word on each."""
BASES = ("training.method.Method", "training.estimator.GraphEstimator")
BASES += ("training.estimator.NodeEstimator",)
TOP = ("load_model", "Beside", "InputError")
"""Public names of the package itself that no public module has."""

LINK = re.compile(r"(\]\()(?!\w+:|#)([^)\s#]+)")


def on_config(config):
    """Add the generated pages to the menu."""
    for entry in config.nav:
        if "API" in entry:
            entry["API"] = [f"api/{name}.md" for name in ("index", *ROOMS)]
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

    for name in PROJECT:
        add(name, (ROOT / name).read_text(encoding="utf-8"))
    for path, text in (api_pages() | method_pages()).items():
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

    return LINK.sub(turned, markdown)


def in_repository(page, link):
    """The file of the repository to which a link of a page leads; None if there is none."""
    folder = ROOT if page in PROJECT else (DOCS / page).parent
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


# The reference, from docstrings.


def api_pages():
    """One page per public module, and one for what the package itself and all methods have."""
    listed = "".join(f"* [augcl.{room}]({room}.md): {text}\n" for room, text in ROOMS.items())
    inherited = "{members: true, inherited_members: false, heading_level: 3}"
    blocks = "".join(f"\n::: augcl.{n}\n    options: {inherited}\n" for n in BASES)
    top = "".join(f"\n::: {home(name)}\n" for name in TOP)
    pages = {
        "api/index.md": f"# API\n\n`import augcl` gives every method and hardness as `augcl.NAME`, "
        f"and these modules:\n\n{listed}\n## The package\n{top}\n## What every method has\n{blocks}"
    }
    for room, text in ROOMS.items():
        module = import_module(f"augcl.{room}")
        names = public_names(module)
        blocks = "".join(f"\n::: {module.__name__}.{name}\n" for name in names)
        pages[f"api/{room}.md"] = f"# augcl.{room}\n\n{text}.\n{blocks}"
    return pages


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
        room = kind.__module__.split(".")[1]
        settings = "".join(
            f"| `{parameter}` | `{default!r}` | {text.replace('|', 'or')} |\n"
            for parameter, (default, text) in described_parameters(kind).items()
        )
        measured, differences = numbers(name, kind), deviations(name)
        parts = (
            f"# {name}\n\n{idea}",
            f"    {equations[name].strip().replace(chr(10), chr(10) + '    ')}",
            f"Paper: {paper.replace('../src', '../../src')}",
            f"Code: {code.replace('../src', '../../src')}. "
            f"Reference: [augcl.{name}](../api/{room}.md).",
            f"## Settings\n\n| parameter | default | meaning |\n|---|---|---|\n{settings}",
            f"## Our numbers\n\n{measured or 'In no table of results.'}",
            f"## Deviations\n\n{differences or 'None that we know of.'}\n\n"
            "All: [deviations](../deviations.md).",
        )
        pages[f"methods/{name}.md"] = "\n\n".join(parts)
    return pages


def cells(row):
    return [cell.strip() for cell in row.strip().strip("|").split(" | ")]


def names_of(name):
    """The names of a method in tables and texts."""
    from augcl.runs.models import PAPER_NAMES

    other = {"AffinityUncertainty": "AUGCL", "Oracle": "oracle", "JOAOv2": "JOAOv2"}
    return {name, other.get(name, PAPER_NAMES.get(name, name)).replace(" ", "")}


def numbers(name, kind):
    """The rows of a method in the tables of results, beside the published numbers."""
    levels = {"graph": ("graphs", "systems"), "node": ("nodes",)}
    level = getattr(kind, "level", None)
    pages = levels[level] if level in levels else (*levels["graph"], *levels["node"])
    wanted = names_of(name)
    if name in ("WLFeatures", "Propagation"):
        wanted.add("training-free")
    rows = {}
    for page in pages:
        text = (DOCS / "results" / f"{page}.md").read_text(encoding="utf-8")
        for part in re.split(r"(?m)^### ", text)[1:]:
            dataset, table = part.split("\n", 1)
            columns = cells(table.strip().split("\n")[0])
            for row in re.findall(r"(?m)^\| (.*) \|$", table):
                found = row.split(" | ")
                if columns[1:3] == ["measured", "published"] and found[0] in wanted:
                    place = f"[{page}](../results/{page}.md)"
                    rows.setdefault((dataset, *found[1:3]), place)
    if not rows:
        return ""
    body = "".join(f"| {d} | {m} | {p} | {place} |\n" for (d, m, p), place in rows.items())
    return (
        f"Accuracy in %, as `{'`, `'.join(sorted(wanted))}` of the tables.\n\n"
        f"| data set | measured | published | table |\n|---|---:|---:|---|\n{body}"
    )


def deviations(name):
    """The rows and items of docs/deviations.md that name the method at their start."""
    text = (DOCS / "deviations.md").read_text(encoding="utf-8")
    words = "|".join(map(re.escape, names_of(name)))
    named = re.compile(rf"(?i)(?<![\w-])({words})(?![\w-])")
    rows = [r for r in re.findall(r"(?m)^\| .*$", text) if named.search(cells(r)[0])]
    items = [i for i in re.findall(r"(?ms)^\* .*?(?=\n\*|\n\n|\Z)", text) if named.search(i[:80])]
    head = "| what | published | here, by default | argument |\n|---|---|---|---|\n" if rows else ""
    rows = [row for row in rows if len(cells(row)) == 4]
    return head + "\n".join(rows) + "\n\n" + "\n".join(items) if rows or items else ""


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
