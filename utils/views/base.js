// What all views share. The page defines `palette` and `root`.
const ROW = 26, WIDE = 220;
let groups = 0;

const style = add(root, "style");
style.textContent = `
  .attention-view { font: 13px/1.4 "DejaVu Sans", Verdana, sans-serif; color: #222;
    overflow-x: auto; }
  .attention-view fieldset { border: 0; margin: 0; padding: 0; min-width: 0; }
  .attention-view label { display: inline-flex; align-items: center; gap: 4px; height: ${ROW}px;
    padding: 0 8px; box-sizing: border-box; cursor: pointer; border-radius: 4px;
    white-space: nowrap; }
  .attention-view label.chosen { background: ${palette.weights[1]}; font-weight: bold; }
  .attention-view label:focus-within { outline: 2px solid ${palette.blue}; }
  .attention-view .words { flex: none; }
  .attention-view .words label { display: flex; justify-content: flex-end; }
  .attention-view .words input { position: absolute; opacity: 0; pointer-events: none; }
  .attention-view table { font: inherit; color: inherit; border-collapse: collapse; }
  .attention-view caption { font-weight: bold; padding: 4px 0; }
  .attention-view input[type=range] { width: min(220px, 35vw); accent-color: ${palette.blue}; }
  .attention-view input[size] { max-width: 45vw; }
  .attention-view svg[viewBox] { max-width: 100%; height: auto; }
  .attention-view td, .attention-view th { padding: 0; text-align: center; font-weight: normal;
    height: ${ROW}px; min-width: 42px; border: 1px solid ${palette.frame}; }
  .attention-view th { padding: 0 6px; white-space: nowrap; }
  .attention-view th, .attention-view td.bare { border: 0; }
  .attention-view td button { width: 100%; height: ${ROW}px; border: 0; font: inherit;
    cursor: pointer; }
  .attention-view td button:focus-visible { outline: 2px solid ${palette.blue}; }
  .attention-view .cell { display: flex; align-items: center; height: ${ROW}px; padding: 0 8px;
    box-sizing: border-box; white-space: nowrap; }
  .attention-view .said { min-height: 2.8em; max-width: 42em; margin-top: 6px; }
  .attention-view .side-by-side { display: flex; flex-wrap: wrap; gap: 8px 24px; margin: 8px 0; }`;

// JupyterLab ignores keys pressed in an element with this attribute.
root.addEventListener("focusin", event => {
  event.target.setAttribute("data-lm-suppress-shortcuts", "true");
});

function add(parent, tag, attributes = {}, text = "") {
  const made = document.createElement(tag);
  return fill(parent, made, attributes, text);
}

function draw(parent, tag, attributes = {}, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  return fill(parent, made, attributes, text);
}

function fill(parent, made, attributes, text) {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text) made.textContent = text;
  return parent.appendChild(made);
}

// A group of radio buttons, with arrow keys and Tab as everywhere. `choose` gets the number.
function choice(parent, legend, names, choose, look = "") {
  const group = add(parent, "fieldset", {class: look, "aria-label": legend});
  const name = `${root.id}-${groups++}`;
  const labels = names.map((text, number) => {
    const label = add(group, "label");
    const button = add(label, "input", {type: "radio", name});
    add(label, "span", {}, text);
    button.addEventListener("change", () => select(number));
    if (look) label.addEventListener("pointerenter", () => select(number));
    return label;
  });
  function select(number) {
    labels.forEach((label, other) => label.classList.toggle("chosen", other === number));
    labels[number].querySelector("input").checked = true;
    choose(number);
  }
  return select;
}

function slider(parent, text, range, change) {
  const line = add(parent, "div");
  const input = add(add(line, "label", {}, text), "input", {type: "range", ...range});
  const value = add(line, "output");
  const tell = () => { value.textContent = change(Number(input.value)); };
  input.addEventListener("input", tell);
  return tell;
}

function said(parent) {
  return add(parent, "div", {class: "said", "aria-live": "polite"});
}

// A row of a table: a name, a bar, and room for its share.
function bar(table) {
  const row = add(table, "tr");
  const name = add(row, "th", {scope: "row"});
  const cell = add(row, "td", {class: "bare", style: `width:${WIDE}px`});
  const box = add(cell, "div", {style: "height:14px"});
  return {name, box, share: add(row, "td", {class: "bare", style: "min-width:56px"})};
}

function fillBar({box}, share, color) {
  box.style.width = `${WIDE * share}px`;
  box.style.background = color;
}

const digits = value => Number.isFinite(value) ? value.toFixed(2).replace("-", "−") : "NaN";

// The color of a weight from 0 to 1: its red, green and blue.
function channels(weight) {
  const at = Math.min(Math.max(weight, 0), 1) * (palette.weights.length - 1);
  const below = Math.min(Math.floor(at), palette.weights.length - 2);
  const parts = color => [1, 3, 5].map(place => parseInt(color.slice(place, place + 2), 16));
  const [from, to] = [parts(palette.weights[below]), parts(palette.weights[below + 1])];
  return from.map((part, i) => Math.round(part + (to[i] - part) * (at - below)));
}
const shade = weight => Number.isFinite(weight) ? `rgb(${channels(weight)})` : palette.red;

// Black or white, whichever is easier to read on it.
function ink(weight) {
  if (!Number.isFinite(weight)) return "#ffffff";
  const [red, green, blue] = channels(weight).map(part => (part / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? "#000000" : "#ffffff";
}

function softmax(scores) {
  const most = Math.max(...scores);
  const exps = scores.map(score => Math.exp(score - most));
  const total = exps.reduce((sum, value) => sum + value, 0);
  return exps.map(value => value / total);
}
