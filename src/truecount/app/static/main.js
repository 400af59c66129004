// The page: a way in, an answer that follows what is typed, and an address that holds both.

import { ask, keepToken, takeToken } from "./ask.js";
import { byId, fill, h } from "./dom.js";
import { FilePanel } from "./file.js";
import { matrixGrid } from "./matrix.js";
import { Result } from "./show.js";
import { START, copy, decode, encode, number, request } from "./state.js";
import { survey } from "./survey.js";

const WAYS = [["survey", "A test"], ["matrix", "A table"], ["file", "A file"], ["examples", "Examples"]];
const DESIGNS = [
  ["label-shift", "From elsewhere, or by their true class", "An earlier release, another hospital, or stratified by class: a study with a fixed number of cases and of controls."],
  ["same-population", "At random from this same population", "Some of the items that are counted were drawn at random and labelled."],
  ["by-prediction", "By what the classifier said", "Stratified by output: for instance 100 that it passed and 100 that it failed, of this same population."],
];

takeToken();
let state = decode(location.hash);
let start = { files: [], named: [], examples: [], open: null, endings: [], most_upload: 0 };
let files = null;
const result = new Result({});

function changed(isDone) {
  const address = encode(state);
  if (address !== location.hash) {
    // What is typed changes the address in place; what is finished is a step to which one can go back.
    const isStep = isDone && history.state?.typing !== true;
    if (isStep) history.pushState({}, "", address);
    else history.replaceState({ typing: !isDone }, "", address);
  } else if (isDone && history.state?.typing) history.replaceState({}, "", address);
  answer();
}

function answer() {
  const values = request(state, files?.counts);
  if (!values) return;
  if (state.in === "matrix") {
    const { labeled, unlabeled } = state.matrix;
    if ([...labeled.flat(), ...unlabeled].some((text) => number(text) === null)) {
      result.stop();
      result.fail({ argument: "matrix", message: "A cell is no number: write counts such as 140." });
      return;
    }
  }
  result.ask(values);
}

function go(way, isPushed = true) {
  Object.assign(state, { in: way, of_interest: "", baseline: "", independent: "" });
  if (isPushed) history.pushState({}, "", encode(state));
  drawAll();
}

function drawAll() {
  result.fail(null);
  result.progress(null);
  drawWays();
  drawPanel();
  drawDesign();
  drawOptions();
  if (state.in === "examples") { result.clear(); return; }
  if (state.in === "file" && !files.counts) result.clear();
  else answer();
}

function drawWays() {
  const tabs = WAYS.map(([way, words], at) => h("button", {
    type: "button", role: "tab", id: `way-${way}`, "aria-selected": String(state.in === way), "aria-controls": "panel", tabindex: state.in === way ? "0" : "-1",
    onclick: () => state.in !== way && go(way),
    onkeydown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const [next] = WAYS[(at + step + WAYS.length) % WAYS.length];
      go(next);
      byId(`way-${next}`).focus();
    },
  }, words));
  fill(byId("ways"), tabs);
  byId("panel").setAttribute("aria-labelledby", `way-${state.in}`);
}

function drawPanel() {
  const panel = byId("panel");
  if (state.in === "survey") survey(panel, state, changed);
  else if (state.in === "matrix") matrixGrid(panel, state, (isDone) => changed(isDone));
  else if (state.in === "file") files.draw(panel);
  else {
    fill(panel, h("ul", { class: "examples" }, start.examples.map((each) => h("li", {}, h("button", { type: "button", onclick: () => openExample(each) },
      h("strong", {}, each.title), h("span", {}, each.words))))));
  }
}

function openExample(each) {
  const found = copy(START);
  const given = copy(each.state);
  if (given.matrix) {
    given.matrix.labeled = given.matrix.labeled.map((row) => row.map(String));
    given.matrix.unlabeled = given.matrix.unlabeled.map(String);
  }
  Object.assign(found, given, { file: { ...found.file, ...(given.file || {}) } });
  replaceState(found);
  history.pushState({}, "", encode(state));
  drawAll();
  byId("result").scrollIntoView({ block: "nearest" });
}

function replaceState(found) {
  state = found;
  files?.take(state);
}

function drawDesign() {
  const place = byId("design");
  place.hidden = !["matrix", "file"].includes(state.in);
  fill(place, h("legend", {}, "How were the labelled items chosen?"), DESIGNS.map(([value, words, more]) => h("div", { class: "choice" },
    h("input", { type: "radio", name: "design", id: `design-${value}`, value, checked: state.design === value, onchange: () => { state.design = value; changed(true); } }),
    h("label", { for: `design-${value}` }, words, h("span", { class: "hint" }, more)))));
}

function drawOptions() {
  byId("options").hidden = state.in === "examples";
  const { classes = [], groups = [] } = result.current || {};
  const choose = (name, label, choices) => {
    const select = h("select", { id: `option-${name}`, onchange: () => { state[name] = select.value; changed(true); } },
      choices.map(([value, words]) => h("option", { value, selected: state[name] === value }, words)));
    return h("div", { class: "field" }, h("label", { for: `option-${name}` }, label), select);
  };
  const seed = h("input", { id: "option-seed", type: "text", inputmode: "numeric", class: "count", value: state.seed, onchange: () => { state.seed = seed.value.trim() || "0"; changed(true); } });
  fill(byId("options").querySelector(".fields"),
    choose("level", "Level of the interval", [["0.8", "80 %"], ["0.9", "90 %"], ["0.95", "95 %"], ["0.99", "99 %"]]),
    choose("interval", "Kind of interval", [["equal-tailed", "equal-tailed"], ["hdi", "shortest"]]),
    choose("of_interest", "Class of interest", state.in === "survey" ? [["", "positive"], ["negative", "negative"], ["all", "both"]]
      : [["", "all"], ...[...new Set([state.of_interest, ...classes].filter(Boolean))].map((each) => [each, each])]),
    groups.length ? choose("baseline", "Compare all groups with", [["", "each other"], ...groups.map((each) => [each, each])]) : null,
    groups.length && !state.file.trend ? choose("independent", "Groups", [["", "are partially pooled: they borrow from each other"], ["yes", "are independent"]]) : null,
    h("div", { class: "field" }, h("label", { for: "option-seed" }, "Seed"), seed));
}

document.addEventListener("answered", () => { if (!byId("options").contains(document.activeElement)) drawOptions(); });

document.addEventListener("token-needed", () => {
  if (byId("token-form")) return;
  const input = h("input", { id: "token", type: "text", autocomplete: "off" });
  fill(byId("error"), h("div", { id: "token-form" }, h("p", {}, "This page belongs to an earlier run, or was opened without its token. Open the address that the program printed, or paste it here:"),
    h("div", { class: "field" }, h("label", { for: "token" }, "Address or token"), input,
      h("button", { type: "button", onclick: () => { keepToken(input.value.trim().replace(/^.*token=/, "")); location.reload(); } }, "Go on"))));
});

window.addEventListener("popstate", () => {
  if (encode(state) === location.hash) return;
  replaceState(decode(location.hash));
  drawAll();
});
window.addEventListener("hashchange", () => {
  if (encode(state) === location.hash) return;
  replaceState(decode(location.hash));
  drawAll();
});

async function begin() {
  const told = await ask("start", {}).catch((error) => ({ error: { message: error.message } }));
  if (told.error) { if (!byId("token-form")) result.fail(told.error); return; }
  start = told.result;
  if (!location.hash && start.open) state = { ...state, in: "file", file: { ...state.file, place: start.open } };
  files = new FilePanel({
    state, start,
    changed: (found) => {
      if (!found) { changed(true); return; }
      const { classes, outputs, labeled, unlabeled } = found.matrix;
      state.matrix = { classes: classes.map(String), outputs: outputs.map(String), labeled: labeled.map((row) => row.map(String)), unlabeled: unlabeled.map(String) };
      go("matrix");
    },
    counted: answer,
    failed: (error) => { result.fail(error); if (error) result.stop(); },
    progress: (told, stop) => result.progress(told, stop),
  });
  history.replaceState(history.state, "", encode(state));
  drawAll();
}
begin();
