// A survey and its test: how many tested positive, and what is known of sensitivity and specificity.

import { fill, h } from "./dom.js";

function split(text) {
  const at = text.lastIndexOf("=");
  const [positive, tested = ""] = text.slice(at + 1).split("/");
  return { name: at < 0 ? "" : text.slice(0, at), positive, tested };
}

const joined = ({ name, positive, tested }, several) => `${several ? `${name}=` : ""}${positive.trim()}/${tested.trim()}`;

export function survey(panel, state, changed) {
  const populations = state.survey.positive.map(split);

  function keep(isDone) {
    const several = populations.length > 1;
    const named = populations.map((each, at) => ({ ...each, name: each.name || `population ${at + 1}` }));
    state.survey.positive = named.map((each) => joined(each, several));
    changed(isDone);
  }

  function field(each, name, label, at) {
    const id = `${name}-${at}`;
    const input = h("input", {
      id, type: "text", inputmode: name === "name" ? "text" : "decimal", autocomplete: "off", spellcheck: "false", value: each[name],
      "data-argument": name === "name" ? null : "positive", class: name === "name" ? "name" : "count",
      oninput: () => { each[name] = input.value; keep(false); }, onchange: () => keep(true),
    });
    return h("div", { class: "field" }, h("label", { for: id }, label), input);
  }

  function remove(at) {
    populations.splice(at, 1);
    keep(true);
    draw();
  }

  function add() {
    populations.forEach((each, at) => { each.name ||= `population ${at + 1}`; });
    populations.push({ name: `population ${populations.length + 1}`, positive: "", tested: "" });
    draw();
    panel.querySelector(`#positive-${populations.length - 1}`).focus();
  }

  function row(each, at) {
    const several = populations.length > 1;
    return h("div", { class: "population", role: "group", "aria-label": several ? each.name : "The survey" },
      several ? field(each, "name", "Population", at) : null,
      field(each, "positive", "Tested positive", at), h("span", { class: "of" }, "of"), field(each, "tested", "Tested", at),
      several ? h("button", { type: "button", class: "small quiet", "aria-label": `Remove ${each.name}`, onclick: () => remove(at) }, "×") : null);
  }

  function rate(name, label, hint) {
    const input = h("input", {
      id: name, type: "text", autocomplete: "off", spellcheck: "false", value: state.survey[name].join("; "), "data-argument": name,
      "aria-describedby": `${name}-hint rates-hint`,
      oninput: () => { state.survey[name] = input.value.split(";").map((each) => each.trim()); changed(false); },
      onchange: () => changed(true),
    });
    return h("div", { class: "field" }, h("label", { for: name }, label), input, h("p", { class: "hint", id: `${name}-hint` }, hint));
  }

  function draw() {
    fill(panel,
      h("p", { class: "lead" }, "A test was used on people, animals or samples. How many are really positive?"),
      populations.map(row),
      h("button", { type: "button", class: "small", onclick: add }, "Add a population"),
      h("div", { class: "pair" },
        rate("sensitivity", "Sensitivity", "Of those who are positive, the share that tests positive."),
        rate("specificity", "Specificity", "Of those who are negative, the share that tests negative.")),
      h("p", { class: "hint", id: "rates-hint" },
        "Counted in a validation study: 103/122. Known: 96%. A range: 75%..92%. Several studies: 78/85; 27/37."));
  }
  draw();
}
