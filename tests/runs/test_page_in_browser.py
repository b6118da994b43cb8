"""The pages in a real browser: `make browser-test` installs what these tests need."""

import contextlib
import io
import json
import shutil
import time

import numpy as np
import pytest

from augcl.files import FORMAT
from augcl.runs.explored import FILE, write_explored
from augcl.runs.page import write_report, write_side_by_side
from augcl.runs.recommend import Scores
from augcl.runs.rows_page import Row, TextTable, write_rows_page
from augcl.runs.run import Spec
from augcl.runs.seeds import Place, run_seeds

playwright = pytest.importorskip(
    "playwright.sync_api", reason="Playwright is not installed: make browser-test"
)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: make browser-test")
CALM = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
CALM += ["--disable-background-networking", "--disable-component-update"]
EVIL = "</script><script>window.evil = 1</script><img src=x onerror='window.evil = 1'>"


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        # Chromium refuses its sandbox to the administrator, as whom containers run.
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=CALM)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser):
    """``opened(path)`` is the page, ready; at the end, nothing was loaded and nothing failed."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    wrong, asked = [], []

    def open_page(path):
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.resolve().as_uri())
        page.wait_for_selector("body[data-ready]")
        asked.remove(path.resolve().as_uri())
        return page

    yield open_page
    context.close()
    assert (wrong, asked) == ([], [])


def trained(folder, spec, seeds):
    place = Place(folder, data_dir=None, device="cpu", jobs=1, resume=False, judge=True)
    with contextlib.redirect_stderr(io.StringIO()):
        run_seeds(spec, seeds, place)
    return folder


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    """A run on MUTAG with weights in its second half."""
    folder = tmp_path_factory.mktemp("graphs") / "run"
    return trained(folder, Spec("MUTAG", "GraphCL", "augcl", epochs=6), 2)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nodes") / "run"
    options = {"width": 16, "projection": 16}
    return trained(folder, Spec("digits-knn", "GRACE", "dcl", epochs=3, options=options), 1)


def written(folder, Z, y, title="my data", **arrays):
    """A run of these embeddings."""
    accuracy = {"mean": 0.8, "std": 0.1, "runs": [0.7, 0.9], "protocol": "tu-svm-10fold"}
    result = {
        "format": FORMAT,
        "dataset": title,
        "method": "GraphCL",
        "hardness": "none",
        "spec": {"dataset": title},
        "settings": {"epochs": 1},
        "hardness_settings": {"class": "Uniform", "params": {}},
        "seeds": [0, 1],
        "accuracy": accuracy,
        "weights": [None, None],
        "seconds": {"training": 1.0},
        "versions": {"python": "3"},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "result.json").write_text(json.dumps(result))
    metrics = {"seed": 0, "epoch": 1, "loss": 3.0, "seconds": 0.1}
    (folder / "metrics.jsonl").write_text(json.dumps(metrics) + "\n")
    np.savez(folder / "embeddings.npz", Z=Z, y=y, **arrays)
    return write_report(folder)


def canvas_point(page, number, which=0):
    """Where a point of a map lies on the screen."""
    box = page.locator("#map canvas").nth(which).bounding_box()
    x, y = page.evaluate(f"[MAPS[{which}].xs[{number}], MAPS[{which}].ys[{number}]]")
    return box["x"] + x, box["y"] + y


def until(page, condition):
    """Wait; a function of Playwright's own would be stopped by the page's policy."""
    for _ in range(100):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(condition)


def isolated(page, which=0):
    """The number of the point that lies farthest to the right: no other one covers it."""
    return page.evaluate(f"MAPS[{which}].xs.indexOf(Math.max(...MAPS[{which}].xs))")


def test_a_click_draws_the_graph_its_neighbours_and_its_views(opened, graphs):
    page = opened(write_report(graphs))
    page.locator("#map canvas").scroll_into_view_if_needed()
    number = isolated(page)
    page.mouse.click(*canvas_point(page, number))
    assert page.evaluate("document.body.dataset.selected") == str(number)
    with np.load(graphs / "seed-0" / "explored.npz") as kept:
        sizes, bonds = (np.diff(kept[f"graphs.{part}"]) for part in ("nodePtr", "edgePtr"))
    assert page.locator(".graph.chosen circle").count() == sizes[number]
    assert page.locator(".graph.chosen .edge").count() == bonds[number]
    assert page.locator(".panel .legend").all_inner_texts()[1].startswith("edge label:")
    assert page.locator(".neighbours svg").count() == 5
    assert page.locator(".views svg").count() == 2
    page.locator(".neighbours button").first.click()
    assert page.evaluate("document.body.dataset.selected") != str(number)


def test_the_search_finds_by_number_and_name_and_says_so(opened, graphs):
    page = opened(write_report(graphs))
    page.get_by_label("Find").fill("graph 31")
    page.keyboard.press("Enter")
    assert page.evaluate("document.body.dataset.selected") == "31"
    assert "graph 31" in page.locator("#said").inner_text()
    page.get_by_label("Find").fill("nobody")
    page.keyboard.press("Enter")
    assert page.evaluate("document.body.dataset.selected") == "31"
    assert page.locator("#said").inner_text() == "Nothing is called nobody"
    assert page.locator(".missed").inner_text().startswith("Nothing is called nobody: give")
    page.get_by_label("Find").fill("7")
    page.keyboard.press("Enter")
    assert not page.locator(".missed").is_visible()
    assert page.evaluate("MAPS[0].view") == {"scale": 1, "x": 0, "y": 0}  # it was in sight


def heights(page):
    return page.eval_on_selector_all("#weights .candidate", "c => c.map(e => e.dataset.weight)")


def test_the_slider_moves_the_weights_and_a_click_makes_an_anchor(opened, graphs):
    page = opened(write_report(graphs))
    slider, last = page.locator("#weights input[type=range]"), heights(page)
    assert len(last) == 63
    slider.focus()
    page.keyboard.press("Home")
    assert set(heights(page)) == {"1"}  # the weights have not set in
    page.keyboard.press("End")
    assert heights(page) == last
    assert len(set(last)) > 10
    sentence = page.locator("#weights .say").inner_text()
    assert "% of the mass" in sentence
    page.get_by_label("Hardness").select_option("dcl")
    assert heights(page) != last
    page.get_by_label("Hardness").select_option("trained")
    assert page.locator("#weights .candidate[tabindex='0']").count() == 1  # one stop of Tab
    page.locator("#weights .candidate").first.focus()
    page.keyboard.press("ArrowRight")
    second = page.evaluate("document.activeElement.dataset.id")
    assert second == page.locator("#weights .candidate").nth(1).get_attribute("data-id")
    before = page.get_by_label("Anchor").input_value()
    page.keyboard.press("Enter")
    assert page.get_by_label("Anchor").input_value() == second
    assert heights(page) != last
    assert page.evaluate("document.activeElement.dataset.id") == before  # it lost no focus


def test_the_keyboard_walks_over_the_map_and_zooms(opened, graphs):
    page = opened(write_report(graphs))
    page.get_by_label("Find").fill("5")
    page.keyboard.press("Enter")
    page.locator("#map canvas").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.body.dataset.selected") != "5"
    page.keyboard.press("+")
    assert page.evaluate("MAPS[0].view.scale") > 1
    page.keyboard.press("0")
    assert page.evaluate("MAPS[0].view.scale") == 1
    number = int(page.evaluate("document.body.dataset.selected"))
    page.keyboard.press("n")  # reaches points that lie under others
    assert page.evaluate("document.body.dataset.selected") == str((number + 1) % 188)
    page.keyboard.press(" ")
    page.keyboard.press("p")
    page.keyboard.press(" ")
    assert page.locator(".lassoed").inner_text().startswith("2 graphs selected")
    page.keyboard.press(" ")
    assert page.locator(".lassoed").inner_text().startswith("1 graph selected")
    page.keyboard.press("Escape")
    assert page.locator(".lassoed").inner_text() == ""
    page.locator(".neighbours button").first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.closest('.neighbours') !== null")


def test_the_page_scrolls_over_the_map_until_it_is_used_and_two_fingers_zoom(opened, graphs):
    page = opened(write_report(graphs))
    canvas = page.locator("#map canvas")
    canvas.scroll_into_view_if_needed()
    box, scale = canvas.bounding_box(), "MAPS[0].view.scale"
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    before = page.evaluate("scrollY")
    page.mouse.wheel(0, -200)
    until(page, f"scrollY < {before}")
    assert page.evaluate(scale) == 1
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    until(page, f"{scale} > 1")
    assert page.evaluate("getComputedStyle(MAPS[0].canvas).touchAction") == "pan-y"
    page.evaluate(
        """MAPS[0].canvas.setPointerCapture = () => {};
        MAPS[0].reset();
        for (const [kind, pointerId, x] of [["down", 1, 200], ["down", 2, 300], ["move", 2, 400]])
            MAPS[0].canvas.dispatchEvent(new PointerEvent(`pointer${kind}`,
                { pointerId, clientX: x, clientY: 300 }));"""
    )
    assert page.evaluate(scale) == pytest.approx(2)


def test_the_lasso_selects_all_points_that_it_encloses(opened, graphs):
    page = opened(write_report(graphs))
    page.locator("#map canvas").scroll_into_view_if_needed()
    box = page.locator("#map canvas").bounding_box()
    left, top = box["x"] + 2, box["y"] + 2
    right, bottom = left + box["width"] - 4, top + box["height"] - 4
    page.get_by_role("button", name="Lasso").click()
    page.mouse.move(left, top)
    page.mouse.down()
    for place in ((right, top), (right, bottom), (left, bottom), (left, top)):
        page.mouse.move(*place)
    page.mouse.up()
    assert page.locator(".lassoed").inner_text().startswith("188 graphs selected: 125 class 1")


def test_numbers_of_the_confusion_matrix_lead_to_the_map(opened, graphs):
    page = opened(write_report(graphs))
    page.locator("table.confusion button").first.click()
    assert "class 0" in page.locator(".lassoed").inner_text()


def test_a_node_shows_its_neighbourhood(opened, nodes):
    page = opened(write_report(nodes))
    page.get_by_label("Find").fill("node 100")
    page.keyboard.press("Enter")
    assert page.locator(".graph.chosen circle").count() > 5
    page.locator(".graph.chosen circle").nth(2).click()
    second = page.evaluate("document.body.dataset.selected")
    assert second != "100"
    assert page.locator(".graph.chosen [tabindex='0']").count() == 1
    page.locator(".graph.chosen [tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.evaluate("document.body.dataset.selected") != second
    assert page.evaluate("document.activeElement.closest('.graph.chosen') !== null")
    page.get_by_role("combobox", name="Colour").select_option("loss")
    assert page.locator(".ramp").is_visible()


def test_two_runs_share_the_selection(opened, graphs, tmp_path):
    other = trained(tmp_path / "other", Spec("MUTAG", "GraphCL", "none", epochs=1), 1)
    page = opened(write_side_by_side(graphs, other))
    assert page.locator("#map canvas").count() == 2
    page.get_by_label("Find").nth(1).fill("17")
    page.keyboard.press("Enter")
    assert page.evaluate("MAPS.map((map) => map.selected)") == [17, 17]
    assert page.locator(".graph.chosen").count() == 2
    page.locator("#map canvas").nth(1).focus()
    page.keyboard.press(" ")
    lassoed = "MAPS.map((map) => map.lassoed && [...map.lassoed])"
    assert page.evaluate(lassoed) == [[17], [17]]
    page.get_by_role("button", name="Clear").first.click()
    assert page.evaluate(lassoed) == [None, None]
    page.get_by_label("Anchor").first.select_option("12")
    assert page.get_by_label("Anchor").nth(1).input_value() == "12"


def test_several_targets_are_chosen_from(opened, tmp_path):
    rng = np.random.default_rng(0)
    y = np.stack([np.arange(30) % 2, np.arange(30) % 3 > 1, rng.random(30)], 1).astype(np.float32)
    Z, names = rng.normal(size=(30, 4)), np.array(["toxic", "soluble", "weight"])
    for seed in (0, 1):
        (tmp_path / "run" / f"seed-{seed}").mkdir(parents=True)
        arrays = {"plane": Z[:, :2], "predicted": y, "wrong": np.zeros(30, np.float32)}
        write_explored(tmp_path / "run" / f"seed-{seed}" / FILE, arrays)
    page = opened(written(tmp_path / "run", Z, y, targets=names))
    assert page.locator("#map .legend button").all_inner_texts() == ["class 0", "class 1"]
    corner = page.locator("table.confusion button").first
    assert corner.inner_text() == "15.0"
    page.get_by_label("Target").select_option("soluble")
    assert corner.inner_text() == "20.0"
    assert "soluble" in page.get_by_role("combobox", name="Colour").inner_text()
    page.get_by_label("Target").select_option("weight")
    assert page.locator("#map .ramp").is_visible()
    assert page.locator("#predictions svg circle").count() == 30


def test_names_of_any_kind_are_inert(opened, tmp_path):
    Z, y = np.random.default_rng(0).normal(size=(30, 4)), np.arange(30) % 2
    names = np.array([f"{EVIL} {i}" for i in range(30)])
    path = written(tmp_path / "run", Z, y, EVIL, names=names, classes=np.array([EVIL, f"b{EVIL}"]))
    page = opened(path)
    page.get_by_label("Find").fill("onerror")
    page.keyboard.press("Enter")
    assert EVIL in page.locator(".panel h3").first.inner_text()
    assert page.evaluate("window.evil") is None
    assert page.locator("img").count() == 0


def slowness():
    """How many times longer than its work something takes here now, because of other processes."""
    started, used = time.perf_counter(), time.process_time()
    while time.process_time() - used < 0.05:
        pass
    return max(1.0, (time.perf_counter() - started) / 0.05)


def test_ten_thousand_points_are_interactive_within_three_seconds(opened, tmp_path):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(10_000, 16)).astype(np.float32)
    path = written(tmp_path / "run", Z, rng.integers(0, 5, 10_000))
    assert path.stat().st_size < 6_000_000
    seconds, slow = [], []
    for _ in range(3):  # other work of the machine must not decide
        slow.append(slowness())
        started = time.perf_counter()
        page = opened(path)
        page.locator("#map canvas").scroll_into_view_if_needed()
        page.mouse.click(*canvas_point(page, isolated(page)))
        assert page.evaluate("'selected' in document.body.dataset")
        seconds.append(time.perf_counter() - started)
        slow.append(slowness())
        if seconds[-1] < 3:
            break
    assert min(seconds) < 3 * max(slow)
    paint = page.evaluate(
        "(() => { const at = performance.now(); for (let k = 0; k < 5; k++) MAPS[0].paint();"
        " return (performance.now() - at) / 5; })()"
    )
    assert paint < 200 * max(slow)  # milliseconds; about 10 on a free machine


def test_dark_light_and_print(opened, graphs):
    page = opened(write_report(graphs))
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.get_by_role("button", name="Use dark colours").click()
    assert page.evaluate(colour) != light
    page.emulate_media(media="print")
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    page.emulate_media(media="screen")
    shut = page.locator("details:not([open])").count()
    assert shut > 0
    page.evaluate(
        """addEventListener("beforeprint", () => { window.printed = [
            document.documentElement.dataset.theme,
            document.querySelectorAll("details:not([open])").length]; })"""
    )
    page.pdf()
    assert page.evaluate("window.printed") == ["light", 0]
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.locator("details:not([open])").count() == shut


def test_every_control_has_a_name_and_sections_have_headings(opened, graphs):
    page = opened(write_report(graphs))
    page.get_by_label("Find").fill("3")
    page.keyboard.press("Enter")
    nameless = page.evaluate(
        """[...document.querySelectorAll("button, select, input, canvas, svg[role=img], a")]
        .filter((node) => !(node.getAttribute("aria-label") || node.textContent.trim()
            || (node.labels && node.labels.length)))
        .map((node) => node.outerHTML.slice(0, 80))"""
    )
    assert nameless == []
    assert page.evaluate("document.querySelectorAll('section > h2').length") == (
        page.locator("nav a").count()
    )


# The page of a comparison


@pytest.fixture
def compared(tmp_path):
    """The page of three rows: a cheap one, a dear one that is better, one that uses the labels."""
    rng, noise = np.random.default_rng(0), 0.05
    specs = {
        "WLFeatures": Spec("MUTAG", "WLFeatures", "none"),
        "GraphCL": Spec("MUTAG", "GraphCL", "none"),
        EVIL: Spec("MUTAG", "GraphCL", "dcl"),
        "oracle": Spec("MUTAG", "GraphCL", "oracle"),
    }
    means, costs = (0.7, 0.85, 0.8, 0.99), (0.1, 20.0, 30.0, 10.0)
    rows = [
        Row(
            name,
            "MUTAG",
            Scores(mean + noise * rng.normal(size=(2, 10)), floor=0.66, training=cost),
            spec,
            f"augcl train {name}",
        )
        for (name, spec), mean, cost in zip(specs.items(), means, costs, strict=True)
    ]
    lines = [(name, f"{100 * mean:.1f}", "12") for name, mean in zip(specs, means, strict=True)]
    table = TextTable("MUTAG", ("", "accuracy", "p"), lines, [f"A note {EVIL}"])
    sentences = [f"Use {EVIL}.", "    augcl train x"]
    path = tmp_path / "rows.html"
    return write_rows_page(path, f"On {EVIL}", rows, [table], sentences=sentences)


def names(page):
    """The rows of the drawing, from the top."""
    return page.locator("#scores a.row").evaluate_all("a => a.map(e => e.getAttribute('href'))")


def test_every_number_of_a_comparison_leads_to_its_settings(opened, compared):
    page = opened(compared)
    links = page.locator("table.numbers a")
    assert links.all_inner_texts() == ["70.0", "85.0", "80.0", "99.0"]  # p is not theirs alone
    for number, place in enumerate((links, page.locator("#scores a.row"))):
        place.nth(1 + number).click()
        until(page, f"document.getElementById('row-{1 + number}').open")
        assert page.locator(f"#row-{1 + number} pre").last.is_visible()
    page.locator("#cost a.point").first.press("Enter")
    until(page, "document.querySelectorAll('details[open]').length === 3")


def test_a_comparison_can_be_filtered_sorted_and_taken_as_differences(opened, compared):
    page = opened(compared)
    assert names(page) == ["#row-0", "#row-1", "#row-2", "#row-3"]
    page.get_by_label("Order").select_option("score")
    assert names(page) == ["#row-3", "#row-1", "#row-2", "#row-0"]
    page.get_by_role("button", name="Pareto line only").click()
    assert names(page) == ["#row-1", "#row-0"]  # dcl costs more and is worse, the oracle no method
    page.get_by_role("button", name="Pareto line only").click()
    page.get_by_role("button", name="weighted negatives").click()
    assert names(page) == ["#row-3", "#row-1", "#row-0"]
    page.get_by_label("Filter").fill("graph")
    assert names(page) == ["#row-1"]
    assert page.locator("table.numbers tbody tr:visible").count() == 1
    page.get_by_label("Filter").fill("")
    page.get_by_label("Show").select_option(label="difference from WLFeatures")
    difference = page.locator("#scores a.row").nth(1)
    assert "+1" in difference.get_attribute("aria-label")
    page.locator("table.numbers thead button").nth(1).click()
    assert page.locator("table.numbers tbody tr").first.inner_text().startswith("oracle")


def test_names_in_a_comparison_are_inert(opened, compared):
    page = opened(compared)
    assert page.evaluate("window.evil") is None
    assert page.locator("img").count() == 0
    assert EVIL in page.locator("h1").inner_text()
    page.emulate_media(media="print")
    assert not page.locator(".controls").first.is_visible()


@pytest.mark.parametrize("width", [360, 700, 1280])
def test_nothing_is_wider_than_the_window(opened, compared, graphs, width):
    for path in (compared, write_report(graphs)):
        page = opened(path)
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_timeout(150)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
