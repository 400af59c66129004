// Elements, made one by one: whatever comes from data is text, and nothing is parsed.

export function h(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "value") made.value = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(3).filter((each) => each !== null && each !== undefined && each !== false));
  return made;
}

export function fill(node, ...children) {
  node.replaceChildren(...children.flat(3).filter((each) => each !== null && each !== undefined && each !== false));
  return node;
}

export const byId = (id) => document.getElementById(id);

// A picture from the server is a tree of names, attributes, styles and text; only what it names is made.
const SVG = "http://www.w3.org/2000/svg";
const ELEMENTS = new Set(["g", "path", "text", "tspan", "use", "defs", "clipPath", "rect", "circle", "line"]);

function svgNode(part) {
  if (typeof part === "string") return document.createTextNode(part);
  const [name, attributes, style, children] = part;
  if (!ELEMENTS.has(name)) return document.createTextNode("");
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "href" && !value.startsWith("#")) continue;
    made.setAttribute(key, value);
  }
  for (const [key, value] of Object.entries(style)) made.style.setProperty(key, value);
  made.append(...children.map(svgNode));
  return made;
}

export function picture(drawing) {
  if (!drawing) return null;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", drawing.view);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-labelledby", `${drawing.name}-title ${drawing.name}-about`);
  const title = document.createElementNS(SVG, "title");
  title.id = `${drawing.name}-title`;
  title.textContent = drawing.title;
  const about = document.createElementNS(SVG, "desc");
  about.id = `${drawing.name}-about`;
  about.textContent = drawing.description;
  svg.append(title, about, ...drawing.content.map(svgNode));
  return h("figure", {}, svg, h("figcaption", {}, drawing.caption));
}

export function svg(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function table(found, { label, colors = null } = {}) {
  const left = new Set(found.on_left || [0]);
  const side = (at) => (left.has(at) ? "left" : null);
  const head = h("thead", {}, h("tr", {}, found.header.map((name, at) => h("th", { scope: "col", class: side(at) }, name))));
  const rows = found.rows.map(([name, ...cells], row) => {
    const chip = colors ? h("span", { class: `chip color-${colors[row]}` }) : null;
    const heading = h("th", { scope: "row", class: name.length > 12 ? "long" : null }, chip, name);
    return h("tr", {}, heading, cells.map((cell, at) => h("td", { class: side(at + 1) }, cell)));
  });
  const fine = found.rows.length && found.rows[0].at(-1).length > 16 ? " fine" : "";
  const made = h("table", { class: `shares${colors ? " marked" : ""}${fine}` }, head, h("tbody", {}, rows));
  const region = h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": label }, made);
  return [region, found.note ? h("p", { class: "note" }, found.note) : null];
}

export function lines(parts) {
  return h("details", { class: "reproduce" }, h("summary", {}, "Reproduce it"),
    parts.filter(([, text]) => text).map(([name, text]) => {
      const code = h("pre", { tabindex: "0", "aria-label": name }, h("code", {}, text));
      const copy = h("button", { type: "button", class: "small", onclick: () => copied(copy, text) }, "Copy");
      return h("div", { class: "lines" }, h("p", {}, name, " ", copy), code);
    }));
}

async function copied(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select it and copy";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}
