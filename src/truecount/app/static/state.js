// The state of the page, and the address that holds it: an address that is kept opens the same counts again.

export const USUAL = { level: "0.95", interval: "equal-tailed", design: "label-shift", seed: "0", of_interest: "", baseline: "", independent: "" };

export const START = {
  in: "survey",
  survey: { positive: ["50/3330"], sensitivity: ["103/122"], specificity: ["399/401"] },
  matrix: {
    classes: ["fail", "pass"], outputs: ["fail", "pass"], labeled: [["140", "60"], ["20", "180"]], unlabeled: ["600", "400"],
  },
  file: { place: "", population: "", label: [], prediction: [], by: [], trend: "", study: "", weight: "", cluster: "", missing: [] },
  ...USUAL,
};

export const copy = (state) => structuredClone(state);

export function encode(state) {
  const told = new URLSearchParams({ in: state.in });
  if (state.in === "survey") {
    for (const name of ["positive", "sensitivity", "specificity"]) for (const text of state.survey[name]) told.append(name, text);
  } else if (state.in === "matrix") {
    const { classes, outputs, labeled, unlabeled } = state.matrix;
    told.append("classes", JSON.stringify(classes));
    told.append("outputs", JSON.stringify(outputs));
    told.append("labeled", labeled.map((row) => row.join(",")).join(";"));
    told.append("unlabeled", unlabeled.join(","));
  } else if (state.in === "file") {
    for (const [name, value] of Object.entries(state.file)) {
      for (const text of Array.isArray(value) ? value : [value]) if (text) told.append(name, text);
    }
  }
  for (const [name, usual] of Object.entries(USUAL)) if (state[name] && state[name] !== usual) told.append(name, state[name]);
  return `#${told}`;
}

export function decode(hash) {
  const state = copy(START);
  const told = new URLSearchParams(hash.replace(/^#/, ""));
  const way = told.get("in");
  if (!["survey", "matrix", "file", "examples"].includes(way)) return state;
  state.in = way;
  for (const name of Object.keys(USUAL)) if (told.has(name)) state[name] = told.get(name);
  if (way === "survey") {
    for (const name of ["positive", "sensitivity", "specificity"]) if (told.has(name)) state.survey[name] = told.getAll(name);
  } else if (way === "matrix") {
    const found = matrixOf(told);
    if (found) state.matrix = found;
  } else if (way === "file") {
    for (const [name, value] of Object.entries(state.file)) {
      if (told.has(name)) state.file[name] = Array.isArray(value) ? told.getAll(name) : told.get(name);
    }
  }
  return state;
}

function matrixOf(told) {
  try {
    const names = ["classes", "outputs"].map((name) => JSON.parse(told.get(name)).map(String));
    const labeled = told.get("labeled").split(";").map((row) => row.split(","));
    const unlabeled = told.get("unlabeled").split(",");
    const [classes, outputs] = names;
    const fits = labeled.length === classes.length && [...labeled, unlabeled].every((row) => row.length === outputs.length);
    return fits ? { classes, outputs, labeled, unlabeled } : null;
  } catch {
    return null;
  }
}

// Numbers as people write them: 1 000, 1,000 or 1'000; nothing counts as 0, and what is no number stays what it is.
export function number(text) {
  const plain = String(text).replace(/[\s,'’\u00a0\u202f]/g, "");
  if (plain === "") return 0;
  return /^\d+(\.\d+)?$/.test(plain) ? Number(plain) : null;
}

export function request(state, counts) {
  const options = {};
  for (const [name, usual] of Object.entries(USUAL)) if (state[name] && state[name] !== usual) options[name] = state[name];
  if (options.independent) options.independent = true;
  if (state.in === "survey") {
    delete options.design;
    options.of_interest = state.of_interest || "positive"; // what a test is for
    if (options.of_interest === "all") delete options.of_interest;
    return { survey: state.survey, ...options };
  }
  if (state.in === "matrix") {
    const { classes, outputs, labeled, unlabeled } = state.matrix;
    return { matrix: { classes, outputs, labeled: labeled.map((row) => row.map(number)), unlabeled: unlabeled.map(number) }, ...options };
  }
  return counts ? { counts, file: state.file, ...options } : null;
}
