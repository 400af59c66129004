// A file: dropped, chosen, or named; its columns are chosen above a few of its rows.

import { Newest, ask, forget, upload } from "./ask.js";
import { fill, h } from "./dom.js";

const PERIODS = ["day", "week", "month", "quarter", "year"];
const ONE = ["label", "prediction", "weight", "study"];
const ROLES = [["", "not used"], ["label", "true class"], ["prediction", "output"], ["by", "groups"],
  ["weight", "weight"], ["study", "study of the label"]];
const short = (place) => (place.startsWith("upload:") ? place.slice(place.indexOf("/") + 1) : place.replace("example:judge", "judge.csv (example)"));

export class FilePanel {
  constructor({ state, start, changed, counted, failed, progress }) {
    Object.assign(this, { state, start, changed, counted, failed, progress, found: null, counts: null, place: null, columns: null });
    const onProgress = (told) => progress(told, () => this.stop());
    this.opening = new Newest((place, how) => this.#opened(place, how), {
      show: (told) => this.#previewed(told), busy: (is) => { if (!is) progress(null); }, progress: onProgress,
    });
    this.counting = new Newest((file, how) => ask("count", file, how), {
      show: (told, file) => this.#shown(told, file), busy: (is) => progress(is ? { what: "counting", share: null } : null, () => this.stop()), progress: onProgress,
    });
  }

  stop() {
    this.opening.stop();
    this.counting.stop();
    this.failed({ argument: "", message: "Stopped. Choose the columns again, or another file." });
  }

  draw(panel) {
    this.panel = panel;
    const chooser = h("input", { type: "file", id: "chooser", class: "unseen", accept: ".csv,.tsv,.txt,.json,.jsonl,.ndjson,.parquet,.pq,.gz,.zst",
      onchange: () => chooser.files[0] && this.open(chooser.files[0]) });
    const drop = h("label", { class: "drop", for: "chooser", ondragover: (event) => { event.preventDefault(); drop.classList.add("over"); },
      ondragleave: () => drop.classList.remove("over"),
      ondrop: (event) => { event.preventDefault(); drop.classList.remove("over"); const [file] = event.dataTransfer.files; if (file) this.open(file); } },
    h("strong", {}, "Drop a file here, or choose one"), h("span", {}, "CSV, TSV, JSON Lines or Parquet. It stays on this machine."));
    const path = h("input", { id: "path", type: "text", list: "files", autocomplete: "off", spellcheck: "false", value: /^(upload|example):/.test(this.state.file.place) ? "" : this.state.file.place,
      onchange: () => path.value && this.open(path.value), onkeydown: (event) => { if (event.key === "Enter" && path.value) this.open(path.value); } });
    this.rows = h("div", { class: "rows" });
    fill(panel, chooser, drop,
      h("div", { class: "field" }, h("label", { for: "path" }, "Or a file that is read where it lies, of any size"), path,
        h("datalist", { id: "files" }, this.start.files.map((each) => h("option", { value: each }))),
        h("p", { class: "hint" }, `Files named at the start: ${this.start.named.map((each) => (each === "." ? "this folder" : each)).join(", ")}.`)),
      this.rows);
    if (this.found && this.place === this.state.file.place) this.#drawRows();
    else if (this.state.file.place) this.open(this.state.file.place);
  }

  open(what) {
    if (typeof what === "string" && what === this.place && this.opening.isBusy) return;
    this.failed(null);
    this.found = this.counts = null;
    fill(this.rows);
    this.opening.ask(what);
  }

  async #opened(what, how) {
    let place = what;
    if (typeof what !== "string") {
      if (what.size > this.start.most_upload) {
        const most = Math.round(this.start.most_upload / 2 ** 20);
        return { error: { argument: "file", message: `${what.name} is larger than ${most} MB: start the program with its name, truecount app ${what.name}, and it is read where it lies.` } };
      }
      place = await upload(what, how);
    }
    const told = await ask("preview", { place }, how);
    return { ...told, place };
  }

  #previewed({ place, result, error }) {
    if (this.place?.startsWith("upload:") && this.place !== place) forget(this.place);
    if (error) { this.place = null; this.failed(error); return; }
    if (result.kind === "matrix") { this.changed({ in: "matrix", matrix: result.matrix }); return; }
    const { file } = this.state;
    const isSame = file.place === place && file.label && result.columns?.includes(file.label);
    this.found = result;
    this.place = place;
    if (!isSame) {
      Object.assign(file, { place, label: result.label || "", prediction: result.prediction || "", by: [], trend: "", study: "", weight: "", missing: file.missing });
      if (result.kind === "counts") Object.assign(file, { label: "", prediction: "" });
      this.changed(null);
    }
    this.#drawRows();
    this.count();
  }

  role(column) {
    const { file } = this.state;
    const one = ONE.find((name) => file[name] === column);
    if (one) return one;
    if (file.by.includes(column)) return "by";
    return file.trend.startsWith(`${column}:`) ? `trend:${file.trend.slice(column.length + 1)}` : "";
  }

  #choose(column, role) {
    const { file } = this.state;
    for (const name of ONE) if (file[name] === column || name === role) file[name] = name === role ? column : "";
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
    this.note = h("p", { class: "counted", role: "status" });
    fill(this.rows, h("h3", {}, `Which columns of ${short(this.place)}?`),
      h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "First rows of the file" }, h("table", { class: "preview" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows))),
      this.note,
      h("details", { class: "small" }, h("summary", {}, "Words that stand for a missing label"), h("div", { class: "field" }, h("label", { for: "missing" }, "Such as NA, separated by commas"), missing)));
  }

  count() {
    const { file } = this.state;
    this.counts = null;
    if (this.found?.kind === "rows" && !(file.label && file.prediction)) {
      this.counting.stop();
      this.failed({ argument: "", message: "Choose the column of true classes, and that of the classifier’s outputs." });
      return;
    }
    this.counting.ask(structuredClone(file));
  }

  #shown({ result, error }) {
    if (error) { this.failed(error); return; }
    this.counts = result.counts;
    const told = (count) => count.toLocaleString("en");
    if (this.note) this.note.textContent = `${told(result.labeled)} rows have a label. The population is the other ${told(result.unlabeled)}.`;
    this.counted();
  }
}
