// A confusion matrix and the counts of the population, in a grid that grows and takes what a spreadsheet copies.

import { fill, h } from "./dom.js";
import { number } from "./state.js";

const POPULATION = /unlabel|population|new|field|total/i;
const isNumber = (text) => text.trim() !== "" && number(text) !== null;

export function parsed(text) {
  const rows = text.replace(/\r/g, "").replace(/\n+$/, "").split("\n");
  const sign = text.includes("\t") ? "\t" : text.includes(";") ? ";" : ",";
  return rows.map((row) => row.split(sign).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1")));
}

// What was copied becomes a matrix: names above and at the left if they are no numbers, and a row of the population.
export function pasted(block, matrix, row, column) {
  const hasHead = block[0].slice(1).some((cell) => cell !== "" && !isNumber(cell)) || (block[0].length === 1 && !isNumber(block[0][0]));
  const hasNames = block.slice(hasHead ? 1 : 0).some(([first]) => first !== "" && !isNumber(first));
  const head = hasHead ? block[0].slice(hasNames ? 1 : 0) : null;
  const body = block.slice(hasHead ? 1 : 0).map((cells) => ({ name: hasNames ? cells[0] : null, cells: cells.slice(hasNames ? 1 : 0) }));
  const found = structuredClone(matrix);
  const top = hasHead ? 0 : row, left = hasHead || hasNames ? 0 : column;
  const wide = Math.max(...body.map(({ cells }) => cells.length), head ? head.length : 0);
  while (found.outputs.length < left + wide) addOutput(found);
  if (hasHead) while (found.outputs.length > wide) dropOutput(found, found.outputs.length - 1);
  head?.forEach((name, at) => { if (name) found.outputs[left + at] = name; });
  const isUnlabeled = (each, at) => (each.name !== null ? POPULATION.test(each.name) : false) || (!hasHead && row >= matrix.classes.length && at === 0);
  const labeled = body.filter((each, at) => !isUnlabeled(each, at));
  const population = body.find((each, at) => isUnlabeled(each, at));
  while (found.classes.length < top + labeled.length) addClass(found);
  if (hasHead && labeled.length >= 2) while (found.classes.length > labeled.length) dropClass(found, found.classes.length - 1);
  labeled.forEach(({ name, cells }, at) => {
    if (name) found.classes[top + at] = name;
    cells.forEach((cell, place) => { found.labeled[top + at][left + place] = cell; });
  });
  population?.cells.forEach((cell, place) => { found.unlabeled[left + place] = cell; });
  return found;
}

const fresh = (names, word) => {
  let at = names.length + 1;
  while (names.includes(`${word} ${at}`)) at += 1;
  return `${word} ${at}`;
};

function addClass(matrix) {
  matrix.classes.push(fresh(matrix.classes, "class"));
  matrix.labeled.push(matrix.outputs.map(() => "0"));
}

function addOutput(matrix) {
  const isSquare = matrix.outputs.length < matrix.classes.length;
  const name = isSquare ? matrix.classes[matrix.outputs.length] : fresh(matrix.outputs, "output");
  matrix.outputs.push(matrix.outputs.includes(name) ? fresh(matrix.outputs, "output") : name);
  for (const row of [...matrix.labeled, matrix.unlabeled]) row.push("0");
}

function dropClass(matrix, at) {
  matrix.classes.splice(at, 1);
  matrix.labeled.splice(at, 1);
}

function dropOutput(matrix, at) {
  matrix.outputs.splice(at, 1);
  for (const row of [...matrix.labeled, matrix.unlabeled]) row.splice(at, 1);
}

export function matrixGrid(panel, state, changed) {
  const shape = () => state.matrix;

  function rename(names, others, at, text) {
    if (others[at] === names[at] && others.length === names.length) others[at] = text;
    names[at] = text;
  }

  function name(names, others, at, kind) {
    const isClass = kind === "class";
    const input = h("input", {
      type: "text", value: names[at], class: "name", autocomplete: "off", spellcheck: "false", "aria-label": `Name of ${kind} ${at + 1}`,
      oninput: () => { rename(names, others, at, input.value); mirror(); changed(false); }, onchange: () => changed(true),
      "data-row": isClass ? at : -1, "data-column": isClass ? -1 : at, "data-name": kind,
    });
    const isRemovable = names.length > 2;
    const drop = isRemovable && h("button", {
      type: "button", class: "small quiet", "aria-label": `Remove ${kind} ${names[at]}`,
      onclick: () => { (isClass ? dropClass : dropOutput)(shape(), at); changed(true); draw(); },
    }, "×");
    return [input, drop];
  }

  // Where classes and outputs have the same names, one follows the other.
  function mirror() {
    const { classes, outputs } = shape();
    for (const input of panel.querySelectorAll("input[data-name]")) {
      const names = input.dataset.name === "class" ? classes : outputs;
      const at = Number(input.dataset.name === "class" ? input.dataset.row : input.dataset.column);
      if (input !== document.activeElement && input.value !== names[at]) input.value = names[at];
    }
  }

  function cell(values, at, row, label) {
    const input = h("input", {
      type: "text", inputmode: "numeric", class: "count", autocomplete: "off", value: values[at], "aria-label": label,
      "data-row": row, "data-column": at,
      oninput: () => {
        values[at] = input.value;
        input.setAttribute("aria-invalid", String(number(input.value) === null));
        changed(false);
      },
      onchange: () => changed(true), onfocus: () => input.select(),
    });
    input.setAttribute("aria-invalid", String(number(values[at]) === null));
    return h("td", {}, input);
  }

  function draw() {
    const matrix = shape();
    const head = h("tr", {}, h("th", { scope: "col" }, "true class \\ output"),
      matrix.outputs.map((_, at) => h("th", { scope: "col" }, name(matrix.outputs, matrix.classes, at, "output"))));
    const rows = matrix.classes.map((each, row) => h("tr", {}, h("th", { scope: "row" }, name(matrix.classes, matrix.outputs, row, "class")),
      matrix.outputs.map((output, at) => cell(matrix.labeled[row], at, row, `Labelled: class ${each}, output ${output}`))));
    const foot = h("tr", {}, h("th", { scope: "row" }, "population, not labelled"),
      matrix.outputs.map((output, at) => cell(matrix.unlabeled, at, matrix.classes.length, `Not labelled: output ${output}`)));
    const grid = h("table", { class: "grid", onpaste: paste, onkeydown: move }, h("thead", {}, head), h("tbody", {}, rows), h("tfoot", {}, foot));
    const add = (what, word) => h("button", { type: "button", class: "small", onclick: () => { what(matrix); changed(true); draw(); } }, word);
    fill(panel,
      h("p", { class: "lead" }, "Labelled items by their true class and what the classifier said, and below what it said of the population."),
      h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Counts" }, grid),
      h("div", { class: "buttons" }, add(addClass, "Add a class"), add(addOutput, "Add an output")),
      h("p", { class: "hint" }, "Paste a table from a spreadsheet into any cell. Arrow keys move between cells."));
  }

  function paste(event) {
    const block = parsed(event.clipboardData.getData("text"));
    if (block.length * block[0].length < 2) return;
    event.preventDefault();
    const { row, column } = event.target.dataset;
    state.matrix = pasted(block, shape(), Math.max(0, Number(row) || 0), Math.max(0, Number(column) || 0));
    changed(true);
    draw();
  }

  function move(event) {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], Enter: [1, 0] }[event.key];
    if (!step || event.target.dataset.row === undefined) return;
    const [row, column] = [Number(event.target.dataset.row) + step[0], Number(event.target.dataset.column)];
    const next = panel.querySelector(`input[data-row="${row}"][data-column="${column}"]`);
    if (next) { event.preventDefault(); next.focus(); }
  }
  draw();
}
