// The answer: a sentence, a table, a picture, what to know, and what else may be asked.

import { Newest, ask, save } from "./ask.js";
import { byId, fill, h, lines, picture, svg, table } from "./dom.js";

const FORMATS = [["html", "Report (HTML)"], ["png", "Picture (PNG)"], ["svg", "Picture (SVG)"], ["csv", "Table (CSV)"], ["json", "JSON"]];

export class Result {
  constructor({ options }) {
    this.current = null;
    this.options = options; // sets an option of the state
    this.panels = [planPanel(this), driftPanel(this), methodsPanel(this)];
    this.main = new Newest((values, how) => ask(isLong(values) ? "long-answer" : "answer", values, how), {
      show: (told, values) => this.#show(told, values),
      busy: (is) => byId("answer").setAttribute("aria-busy", String(is)),
      progress: (told) => this.progress(told, () => this.main.stop()),
    });
  }

  ask(values) {
    this.progress(null);
    this.main.ask(values);
  }

  stop() { this.main.stop(); }

  clear() {
    this.stop();
    this.current = null;
    fill(byId("answer"));
    byId("more").hidden = true;
  }

  progress(told, stop) {
    const place = byId("progress");
    if (!told) { fill(place); return; }
    const words = { counting: "Counting the rows", inferring: "Computing", planning: "Planning", sending: "Reading the file", waiting: "Waiting for its turn" }[told.what] || told.what;
    const bar = h("progress", { max: "1", "aria-label": words });
    if (typeof told.share === "number" && told.share > 0) bar.value = told.share;
    const share = typeof told.share === "number" && told.share > 0 ? ` ${Math.round(100 * told.share)} %` : "";
    const old = place.querySelector(".working");
    if (old && old.dataset.what === words) {
      old.querySelector("span").textContent = `${words}${share}`;
      if (share) old.querySelector("progress").value = told.share;
      return;
    }
    fill(place, h("div", { class: "working", "data-what": words }, h("span", {}, `${words}${share}`), bar,
      h("button", { type: "button", onclick: () => { fill(place); stop(); } }, "Stop")));
  }

  fail(error) {
    for (const field of document.querySelectorAll("[data-argument]")) {
      field.setAttribute("aria-invalid", String(Boolean(error) && field.dataset.argument === error.argument));
    }
    const below = error && byId("answer").childElementCount ? h("span", { class: "hint" }, "Below is the answer from before.") : null;
    fill(byId("error"), error ? h("p", {}, error.message, below) : null);
    byId("answer").classList.toggle("old", Boolean(error));
    byId("more").classList.toggle("old", Boolean(error));
  }

  #show(told, values) {
    this.progress(null);
    if (told.error) { this.fail(told.error); return; }
    this.fail(null);
    this.current = { ...told.result, values };
    fill(byId("answer"), ...(told.result.kind === "groups" ? this.#groups(told.result) : this.#one(told.result)));
    this.#drawMore(told.result);
    document.dispatchEvent(new CustomEvent("answered", { detail: told.result }));
    for (const panel of this.panels) panel.refresh();
  }

  #top(found) {
    const serious = found.findings.filter((each) => each.severity === "serious");
    const warning = serious.length ? h("p", { class: "warning" }, `Not to be used as it stands: ${serious[0].message}`) : null;
    const alerts = (found.alerts || []).slice(0, 5).map((each) => h("p", { class: "warning" }, `Alert: ${each}`));
    return [warning, alerts, h("p", { class: "answer", "aria-live": "polite" }, found.answer)];
  }

  #one(found) {
    const shares = found.table.rows.length ? table(found.table, { label: "Shares of every class", colors: found.colors }) : null;
    const raters = found.raters ? h("section", {}, h("h3", {}, "How often raters are right"), table(found.raters, { label: "Raters" })) : null;
    return [this.#top(found), h("div", { class: "sides" }, h("div", {}, shares), picture(found.picture)), raters, findings(found.findings)];
  }

  #groups(found) {
    const sections = found.sections.map((each) => h("section", {}, h("h3", {}, each.heading), each.words ? h("p", {}, each.words) : null,
      each.pictures.map(picture), each.table ? table(each.table, { label: each.heading }) : null));
    return [this.#top(found), findings(found.findings), sections];
  }

  #drawMore(found) {
    const more = byId("more");
    more.hidden = false;
    const open = new Set([...more.querySelectorAll("details[open]")].map((each) => each.id));
    if (!more.childElementCount || more.dataset.kind !== found.kind) {
      more.dataset.kind = found.kind;
      this.parts = h("div", { class: "parts" });
      fill(more, h("h3", { class: "and" }, "Ask further"), this.panels.map((panel) => panel.node), this.parts, this.#saving());
    }
    const part = (id, title, ...inside) => h("details", { id, open: open.has(id), class: "part" }, h("summary", {}, title), inside);
    const shown = [];
    if (found.confusion) shown.push(part("confusion", "Confusion matrix: the outputs of each class", grid(found.confusion, "class \\ output, %", true, "Confusion matrix"), h("p", { class: "note" }, "Of the items of each class, the percentage that gets each output, with its interval.")));
    if (found.fit?.length) shown.push(part("fit", "Whether the outputs fit", table({ header: ["output", "seen", "expected", "agrees"], rows: found.fit }, { label: "Whether the outputs fit" }), h("p", { class: "note" }, `Items of the population with each output${found.is_clustered ? ", as many as independent ones that would tell as much" : ""}, and where the model expects their number.`)));
    if (found.counts) shown.push(part("counts", "The counts", grid(found.counts, "class \\ output", false, "The counts")));
    shown.push(part("method", "How it was computed, and what it assumes", found.method.map((each) => h("p", {}, each)),
      h("ol", {}, found.assumptions.map(([claim, meaning]) => h("li", {}, h("strong", {}, claim), " ", meaning)))));
    const repeat = lines([["In a shell", found.repeat.command], ["In Python, from the counts alone", found.repeat.code]]);
    repeat.id = "reproduce";
    repeat.className = "part reproduce";
    repeat.open = open.has("reproduce");
    repeat.querySelector("summary").textContent = "Reproduce this answer in a shell or in Python";
    repeat.append(h("dl", {}, found.repeat.facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])));
    fill(this.parts, shown, repeat);
  }

  #saving() {
    const said = h("span", { role: "status", class: "note" });
    const button = ([format, words]) => h("button", { type: "button", onclick: async () => {
      said.textContent = "Writing …";
      try {
        await save(this.current.values, format);
        said.textContent = `truecount.${format} is saved.`;
      } catch (error) { said.textContent = error.message; }
    } }, words);
    return h("div", { class: "saving", role: "group", "aria-label": "Save" }, h("span", {}, "Save:"), FORMATS.map(button), said);
  }
}

// Several populations, studies, raters or classifiers, and clusters, may take seconds; what is typed never waits for them.
const isLong = ({ counts, survey }) => Boolean(counts && (counts.groups || counts.patterns || counts.combinations || counts.clusters))
  || Boolean(survey && Object.values(survey).some((each) => each.length > 1));

function findings(found) {
  if (!found.length) return h("p", { class: "note calm" }, "Nothing was found in these data that contradicts the answer. That does not prove the assumptions.");
  return h("section", {}, h("h3", {}, "What to know before using it"), h("ul", { class: "findings" }, found.map((each) => h("li", { class: each.severity },
    h("h4", {}, each.heading, " ", h("span", { class: "code" }, `(${each.code})`)), h("p", {}, each.message),
    each.advice ? h("p", {}, h("strong", {}, "What to do: "), each.advice) : null))));
}

function grid(found, corner, isHeat, label) {
  const cell = ([share, mean, span]) => {
    const made = h("td", {}, mean, span ? [" ", h("span", {}, `(${span})`)] : null);
    if (isHeat) made.style.setProperty("--share", share.toFixed(3));
    return made;
  };
  const head = h("tr", {}, h("th", { scope: "col" }, corner), found.outputs.map((name) => h("th", { scope: "col" }, name)));
  const rows = found.rows.map(([name, cells]) => h("tr", {}, h("th", { scope: "row" }, name), cells.map(cell)));
  const foot = found.foot.map(([name, cells]) => h("tr", {}, h("th", { scope: "row" }, name), cells.map((each) => h("td", {}, each))));
  return h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": label },
    h("table", { class: isHeat ? "counts heat" : "counts" }, h("thead", {}, head), h("tbody", {}, rows), foot.length ? h("tfoot", {}, foot) : null));
}

// A part that is asked for when it is opened, and again when the answer changes while it is open.
function panel(result, { id, title, task, isOfOne = false, controls, values, draw }) {
  const place = h("div", { class: "found" });
  const which = isOfOne ? groupChoice(id, () => refresh()) : null;
  const said = h("p", { class: "note", role: "status" });
  const work = new Newest((asked, how) => ask(task, asked, how), {
    show: (told) => { if (told.error) fill(place, h("p", { class: "note" }, told.error.message)); else fill(place, draw(told.result)); },
    busy: (is) => { place.setAttribute("aria-busy", String(is)); said.textContent = is ? "Computing …" : ""; },
  });
  const refresh = () => {
    if (!node.open || !result.current) return;
    which?.offer(result.current.groups || []);
    const more = values();
    if (more) work.ask({ ...result.current.values, ...which?.values(), ...more });
  };
  const node = h("details", { id, class: "part", ontoggle: refresh }, h("summary", {}, title), which?.node, controls(refresh), said, place);
  return { node, refresh };
}

// What is asked of one population is asked of one of the groups, by itself.
function groupChoice(id, changed) {
  const node = h("div", { class: "field" });
  let chosen = "", offered = "";
  return {
    node,
    values: () => (chosen ? { group: chosen } : {}),
    offer: (groups) => {
      if (offered === JSON.stringify(groups)) return;
      offered = JSON.stringify(groups);
      if (!groups.includes(chosen)) chosen = groups[0] || "";
      const select = h("select", { id: `${id}-group`, onchange: () => { chosen = select.value; changed(); } },
        groups.map((each) => h("option", { value: each, selected: each === chosen }, each)));
      fill(node, groups.length ? [h("label", { for: select.id }, "Group"), select,
        h("p", { class: "hint" }, "This is asked of one group by itself, with the labels that serve all of them. Nothing is borrowed from the other groups, so its interval may be wider than above.")] : null);
    },
  };
}

function planPanel(result) {
  let kind = "labels";
  const inputs = { labels: "100", half_width: "3" };
  return panel(result, {
    id: "plan", title: "What would more labels give?", task: "plan",
    controls: (refresh) => {
      const number = (name, words, unit) => {
        const field = h("input", { id: `plan-${name}`, type: "text", inputmode: "decimal", class: "count", value: inputs[name], "aria-label": words,
          oninput: () => { inputs[name] = field.value; choice.checked = true; kind = name; refresh(); }, });
        const choice = h("input", { type: "radio", name: "plan", id: `plan-by-${name}`, checked: name === kind, onchange: () => { kind = name; refresh(); } });
        return h("div", { class: "choice" }, choice, h("label", { for: `plan-by-${name}` }, words), field, h("span", {}, unit));
      };
      return h("fieldset", { class: "plain" }, h("legend", { class: "unseen" }, "Plan"),
        number("labels", "If I label", "more items"), number("half_width", "To reach an interval of ±", "points"));
    },
    values: () => {
      const text = inputs[kind].trim().replace("%", "");
      return /^\d+([.]\d+)?$/.test(text) ? { [kind]: kind === "labels" ? text : `${text}%` } : null;
    },
    draw: (found) => [h("p", {}, h("strong", {}, found.headline)), found.sentences.map((each) => h("p", {}, each)),
      found.tables.map((each, at) => table(each, { label: at ? `More of the plan, ${at}` : "Intervals to expect" })), picture(found.picture), lines([["In a shell", found.shell], ["In Python", found.python]])],
  });
}

function driftPanel(result) {
  let size = "5";
  return panel(result, {
    id: "drift", title: "What if the classifier changed?", task: "drift", isOfOne: true,
    controls: (refresh) => {
      const shown = h("output", { for: "drift-size" }, "5 %");
      const slider = h("input", { id: "drift-size", type: "range", min: "0", max: "20", step: "1", value: size,
        oninput: () => { size = slider.value; shown.textContent = `${size} %`; refresh(); } });
      return h("div", { class: "slider" }, h("label", { for: "drift-size" }, "Share of each class whose output may have changed:"), h("div", {}, slider, shown));
    },
    values: () => ({ drift: `${size}%` }),
    draw: (found) => [driftTable(found), h("p", { class: "note" }, "The wide bar holds whatever the change was, within that bound; the narrow one is the answer as it stands. Both are equal-tailed intervals."),
      found.shell ? null : h("p", { class: "note" }, "The command shows this at a level of 95 % alone; Python at any."), lines([["In a shell", found.shell], ["In Python", found.python]])],
  });
}

function driftTable(found) {
  const percent = ([low, high]) => `${(100 * low).toFixed(1)} – ${(100 * high).toFixed(1)} %`;
  const bar = (row, at) => {
    const mark = (ends, y, height, kind) => svg("rect", { x: 200 * ends[0], y, width: Math.max(1, 200 * (ends[1] - ends[0])), height, rx: height / 2, class: `${kind} stroke-${at % 6}` });
    return svg("svg", { viewBox: "-6 0 212 18", class: "bar", "aria-hidden": "true" }, svg("line", { x1: 0, x2: 200, y1: 9, y2: 9, class: "axis" }),
      mark(row.drifted, 3, 12, "far"), mark(row.now, 6.5, 5, "near"));
  };
  const rows = found.rows.map((row, at) => h("tr", {}, h("th", { scope: "row" }, row.class), h("td", {}, percent(row.now)), h("td", {}, percent(row.drifted)), h("td", { class: "drawn" }, bar(row, at))));
  return h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Intervals under a drift" }, h("table", { class: "shares" },
    h("thead", {}, h("tr", {}, ["class", "as it stands", "with the change", "0 to 100 %"].map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, rows)));
}

function methodsPanel(result) {
  const shown = (found, label) => [table(found.table, { label }), found.notes.map((each) => h("p", { class: "note" }, each)),
    picture(found.picture), lines([["In a shell", found.shell], ["In Python", found.python]])];
  return panel(result, {
    id: "methods", title: "The estimators of the field, beside this answer", task: "compare", isOfOne: true,
    controls: () => null, values: () => ({}),
    draw: (found) => [found.of_test ? shown(found.of_test, "Rogan and Gladen") : null, shown(found, "Estimators")],
  });
}
