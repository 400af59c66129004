// A file, or a labelled one and one of the population: dropped, chosen, or named; columns are chosen above a few rows.

import { Newest, ask, forget, upload } from "./ask.js";
import { fill, h } from "./dom.js";

const PERIODS = ["day", "week", "month", "quarter", "year"];
const ONE = ["weight", "cluster", "study"], SEVERAL = ["label", "prediction"];
const NOTHING = { population: "", label: [], prediction: [], by: [], trend: "", study: "", weight: "", cluster: "" };
const ROLES = [["", "not used"], ["label", "true class"], ["prediction", "output"], ["by", "groups"], ["weight", "weight"],
  ["cluster", "cluster (belong together)"], ["study", "study of the label"],
  ["label+", "another rater"], ["prediction+", "another classifier"]];
const isKept = (place) => place?.startsWith("upload:");
const short = (place) => (place === "example:judge" ? "judge.csv (example)" : place.split(/[\\/]/).at(-1));

export class FilePanel {
  constructor({ state, start, changed, counted, failed, progress }) {
    Object.assign(this, { state, start, changed, counted, failed, progress, found: null, counts: null, place: null, isApart: false });
    const onProgress = (told) => progress(told, () => this.stop());
    const busy = (is) => { if (!is) progress(null); };
    this.opening = new Newest((what, how) => this.#opened(what, how), { show: (told) => this.#previewed(told), busy, progress: onProgress });
    this.adding = new Newest(async (what, how) => ({ place: await this.#placed(what, how) }), { show: (told) => this.#added(told), busy, progress: onProgress });
    this.counting = new Newest((file, how) => ask("count", file, how), {
      show: (told, file) => this.#shown(told, file), busy: (is) => progress(is ? { what: "counting", share: null } : null, () => this.stop()), progress: onProgress,
    });
  }

  stop() {
    for (const work of [this.opening, this.adding, this.counting]) work.stop();
    this.failed({ argument: "", message: "Stopped. Choose the columns again, or another file." });
  }

  draw(panel) {
    this.panel = panel;
    this.rows = h("div", { class: "rows" });
    const named = `Files named at the start: ${this.start.named.map((each) => (each === "." ? "this folder" : each)).join(", ")}.`;
    fill(panel, this.#chooser("chooser", "path", {
      words: "Drop a file here, or choose one", more: "CSV, TSV, JSON Lines or Parquet. It stays on this machine. Labelled items and the population may be two files.",
      label: "Or a file that is read where it lies, of any size", hint: named, value: this.state.file.place, most: 2, open: (files) => this.open(files),
    }), h("datalist", { id: "files" }, this.start.files.map((each) => h("option", { value: each }))), this.rows);
    if (this.found && this.place === this.state.file.place) {
      this.#drawRows();
      if (!this.counts) this.count();
    } else if (this.state.file.place) this.open([this.state.file.place]);
  }

  // Another state, such as one that the browser goes back to: what was counted holds only for the same columns.
  take(state) {
    const before = this.state.file;
    this.state = state;
    if (JSON.stringify(before) === JSON.stringify(state.file)) return;
    this.counting.stop();
    this.counts = null;
    if (before.place !== state.file.place) this.found = null;
    this.isApart = Boolean(state.file.population) || this.found?.is_labelled === true;
  }

  // A place to drop files on, which is a button that chooses them too, and a field for a path.
  #chooser(id, pathId, { words, more, label, hint, value, most, open }) {
    const chooser = h("input", { type: "file", id, class: "unseen", accept: this.start.endings.join(), multiple: most > 1, onchange: () => chooser.files.length && open([...chooser.files].slice(0, most)) });
    const drop = h("label", { class: "drop", for: id, ondragover: (event) => { event.preventDefault(); drop.classList.add("over"); },
      ondragleave: () => drop.classList.remove("over"),
      ondrop: (event) => { event.preventDefault(); drop.classList.remove("over"); const files = [...event.dataTransfer.files].slice(0, most); if (files.length) open(files); } },
    h("strong", {}, words), h("span", {}, more));
    const typed = () => path.value && open([path.value]);
    const path = h("input", { id: pathId, type: "text", list: "files", autocomplete: "off", spellcheck: "false", value: /^(upload|example):/.test(value) ? "" : value,
      onchange: typed, onkeydown: (event) => { if (event.key === "Enter") typed(); } });
    return [chooser, drop, h("div", { class: "field" }, h("label", { for: pathId }, label), path, hint ? h("p", { class: "hint" }, hint) : null)];
  }

  open(what) {
    if (typeof what[0] === "string" && what[0] === this.asked && this.opening.isBusy) return;
    [this.asked] = what;
    this.failed(null);
    this.counting.stop();
    this.found = this.counts = null;
    fill(this.rows);
    this.opening.ask(what);
  }

  async #placed(what, how) {
    if (typeof what === "string") return what;
    if (what.size > this.start.most_upload) {
      const most = Math.round(this.start.most_upload / 2 ** 20);
      throw new Error(`${what.name} is larger than ${most} MB: start the program with its name, truecount app ${what.name}, and it is read where it lies.`);
    }
    return upload(what, how);
  }

  // Of two files, the labelled one is the one in which a column of true classes is found.
  async #opened(what, how) {
    const found = [];
    for (const each of what) {
      const place = await this.#placed(each, how);
      const told = await ask("preview", { place }, how);
      if (told.error) return { ...told, place };
      found.push({ place, result: told.result });
    }
    if (found.length > 1 && !found[0].result.label && found[1].result.label) found.reverse();
    return { ...found[0], population: found[1]?.place || "" };
  }

  #previewed({ place, population, result, error }) {
    const { file } = this.state;
    if (isKept(this.place) && this.place !== place) forget(this.place);
    if (error) { this.place = null; this.failed(error); return; }
    if (result.kind === "matrix") { this.changed({ in: "matrix", matrix: result.matrix }); return; }
    const isSame = file.place === place && file.label.length && file.label.every((each) => result.columns?.includes(each));
    this.found = result;
    this.place = place;
    if (!isSame) {
      this.#forgetPopulation();
      Object.assign(file, structuredClone(NOTHING), { place, population, label: [result.label].filter(Boolean), prediction: [result.prediction].filter(Boolean) });
      if (result.kind === "counts") Object.assign(file, { label: [], prediction: [] });
      this.changed(null);
    }
    this.isApart = Boolean(file.population) || result.is_labelled === true;
    this.#drawRows();
    this.count();
  }

  #forgetPopulation() {
    if (isKept(this.state.file.population)) forget(this.state.file.population);
    this.state.file.population = "";
  }

  #added({ place, error }) {
    if (error) { this.failed(error); return; }
    this.#forgetPopulation();
    this.state.file.population = place;
    this.changed(null);
    this.#drawRows();
    this.count();
  }

  role(column) {
    const { file } = this.state;
    const several = SEVERAL.find((name) => file[name].includes(column));
    if (several) return file[several][0] === column ? several : `${several}+`;
    const one = ONE.find((name) => file[name] === column);
    if (one) return one;
    if (file.by.includes(column)) return "by";
    return file.trend.startsWith(`${column}:`) ? `trend:${file.trend.slice(column.length + 1)}` : "";
  }

  #choose(column, role) {
    const { file } = this.state;
    for (const name of ONE) if (file[name] === column || name === role) file[name] = name === role ? column : "";
    for (const name of SEVERAL) {
      file[name] = file[name].filter((each) => each !== column);
      if (role === name) file[name] = [column, ...file[name].slice(1)];
      if (role === `${name}+`) file[name].push(column);
    }
    file.by = file.by.filter((each) => each !== column);
    if (file.trend.startsWith(`${column}:`)) file.trend = "";
    if (role === "by") { file.by.push(column); file.trend = ""; }
    if (role.startsWith("trend:")) { file.trend = `${column}:${role.slice(6)}`; file.by = []; this.state.independent = ""; }
    this.state.baseline = "";
    this.counts = null;
    this.changed(null);
    this.#drawRows();
    this.panel.querySelector(`select[data-column="${CSS.escape(column)}"]`)?.focus();
    this.count();
  }

  #drawRows() {
    const { found } = this;
    if (found.kind === "counts") { fill(this.rows, h("p", {}, `${short(this.place)} holds counts.`)); return; }
    const times = new Set(found.times);
    const head = found.columns.map((column) => {
      const roles = times.has(column) ? [...ROLES, ...PERIODS.map((each) => [`trend:${each}`, `time, by ${each}`])] : ROLES;
      const role = this.role(column);
      const select = h("select", { "aria-label": `What ${column} is`, "data-column": column, onchange: () => this.#choose(column, select.value) },
        roles.map(([value, words]) => h("option", { value, selected: value === role }, words)));
      return h("th", { scope: "col", class: role ? "used" : null }, h("span", {}, column), select);
    });
    const rows = found.rows.map((cells) => h("tr", {}, cells.map((text, at) => h("td", { class: this.role(found.columns[at]) ? "used" : null }, text || h("span", { class: "gap" }, "empty")))));
    const missing = h("input", { id: "missing", type: "text", autocomplete: "off", value: this.state.file.missing.join(", "),
      onchange: () => { this.counts = null; this.state.file.missing = missing.value.split(",").map((each) => each.trim()).filter(Boolean); this.changed(null); this.count(); } });
    this.note = h("div", { class: "counted", role: "status" });
    if (this.counts) this.#tell();
    fill(this.rows, h("h3", {}, `Which columns of ${short(this.place)}?`),
      h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "First rows of the file" }, h("table", { class: "preview" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows))),
      this.note, this.#population(),
      h("details", { class: "small" }, h("summary", {}, "Words that stand for a missing label"), h("div", { class: "field" }, h("label", { for: "missing" }, "Such as NA, separated by commas"), missing)));
  }

  #population() {
    const { file } = this.state;
    const choice = (isApart, words) => h("div", { class: "choice" },
      h("input", { type: "radio", name: "apart", id: `apart-${isApart}`, checked: this.isApart === isApart, onchange: () => this.#divide(isApart) }),
      h("label", { for: `apart-${isApart}` }, words));
    const chooser = !this.isApart ? null : this.#chooser("population-chooser", "population-path", {
      words: file.population ? `The population: ${short(file.population)}` : "Drop the file of the population here, or choose it",
      more: "It needs the column of outputs, under the same name.", label: "Or a file that is read where it lies", hint: null, value: file.population, most: 1,
      open: ([what]) => { this.failed(null); this.adding.ask(what); },
    });
    return h("fieldset", {}, h("legend", {}, "Where is the population?"), choice(false, "In the same file: the rows without a label"), choice(true, "In another file"), chooser);
  }

  #divide(isApart) {
    this.isApart = isApart;
    if (!isApart && this.state.file.population) { this.#forgetPopulation(); this.changed(null); }
    this.#drawRows();
    this.panel.querySelector(`#apart-${isApart}`).focus();
    this.count();
  }

  count() {
    const { file } = this.state;
    const isOfRows = this.found?.kind === "rows";
    this.counts = null;
    const lacking = isOfRows && !(file.label.length && file.prediction.length) ? "Choose the column of true classes, and that of the classifier’s outputs."
      : isOfRows && this.isApart && !file.population ? `${this.found.is_labelled ? `Every row of ${short(this.place)} has a label. ` : ""}Choose the file of the population.` : null;
    if (lacking) {
      this.counting.stop();
      this.failed({ argument: "", message: lacking });
      return;
    }
    this.counting.ask(structuredClone(file));
  }

  #shown({ result, error }, { place, population }) {
    if (error) { this.failed(error); return; }
    this.counts = result.counts;
    const told = (count) => count.toLocaleString("en");
    const rest = population ? `The population is the ${told(result.unlabeled)} rows of ${short(population)}.` : `The population is the other ${told(result.unlabeled)}.`;
    const head = `${told(result.labeled)} rows${population ? ` of ${short(place)}` : ""} have a label.`;
    this.told = [`${head} ${rest}`, ...result.notes];
    if (this.note) this.#tell();
    this.counted();
  }

  #tell() { fill(this.note, this.told.map((each) => h("p", {}, each))); }
}
