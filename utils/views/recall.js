// The plane with both keys, a memory's state, and dashed lines to what each key reads of it.
function planeIn(parent) {
  const SIZE = 220, MIDDLE = SIZE / 2, EDGE = 86;
  const plane = draw(parent, "svg", {width: SIZE, height: SIZE, "aria-hidden": "true",
    "font-size": 12, fill: "#222", "text-anchor": "middle", style: "flex:none"});
  const frame = {fill: "none", stroke: palette.frame};
  const dashed = {stroke: "#6a6a6a", "stroke-dasharray": "3 3"};
  const halo = {stroke: "#ffffff", "stroke-width": 3, "paint-order": "stroke"};
  const at = ([x, y], length) => [MIDDLE + length * x, MIDDLE - length * y];
  const segment = ([x1, y1], [x2, y2], look) => draw(plane, "line", {x1, y1, x2, y2, ...look});
  const word = ([x, y], up, name) =>
    draw(plane, "text", {x, y: y - up, dy: "0.35em", ...halo}, name);

  function arrow([cx, cy], color, width) {
    segment([MIDDLE, MIDDLE], [cx, cy], {stroke: color, "stroke-width": width});
    draw(plane, "circle", {cx, cy, r: 3 + width / 3, fill: color});
  }

  return (state, answers) => {
    let reach = 2;
    while (reach < 1.1 * Math.hypot(...state)) reach *= 2;
    const unit = EDGE / reach, step = Math.max(1, reach / 8), tip = at(state, unit);
    plane.replaceChildren();
    for (let ring = step; ring <= reach; ring += step)
      draw(plane, "circle", {...frame, cx: MIDDLE, cy: MIDDLE, r: unit * ring, opacity: 0.6});
    answers.forEach(({name, key, back}) => {
      segment(at(key, -EDGE), at(key, EDGE), frame);
      segment(tip, at(key, unit * back), dashed);
      word(at(key, EDGE + 10), name === "A" ? -7 : 7, name);
    });
    answers.forEach(({key}) => arrow(at(key, unit), palette.blue, 5));
    arrow(tip, palette.orange, 3);
    word(tip, 14, "state");
  };
}

// Two keys write numbers into one small state, and ask for them: turn a key, or write more.
function show({memories, writes, made, near, start}) {
  const GROUNDS = {"✓ right": palette.blue, "× wrong": palette.red, "–": "transparent"};
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1];
  const shown = value => digits(Math.abs(value) < 0.005 ? 0 : value); // never −0.00
  const knobs = {...start}, some = what => memories.some(memory => memory[what]);
  let done = writes.slice(0, made);
  const moves = [knob("angle between the keys", "angle", [0, 180, 5], value => `${value}°`)];
  if (some("replaces")) moves.push(knob("beta", "beta", [0, 1, 0.1], value => value.toFixed(1)));
  if (some("fades")) moves.push(knob("what stays", "decay", [0.5, 1, 0.05], digits));
  const line = add(root, "div", {class: "side-by-side", style: "align-items:baseline",
    role: "group", "aria-label": "write"});
  add(line, "span", {}, "write");
  writes.forEach(write => button(write.join(" = "), () => [...done, write]));
  button("empty", () => []);
  const list = add(root, "div", {style: "max-width:42em"});
  const board = add(root, "div", {class: "side-by-side"});
  const panels = memories.map(panel);
  add(root, "div", {style: "max-width:42em"}, "Follow a dashed line from the state to a key's " +
    "line: how far out it lands is what comes back. Keys have length 1.");
  const text = said(root);
  text.style.whiteSpace = "pre-line";

  function knob(words, name, [min, max, step], write) {
    return slider(root, words, {min, max, step, value: start[name]}, value => {
      knobs[name] = value;
      update();
      return write(value);
    });
  }

  function button(words, next) {
    add(line, "button", {type: "button"}, words).addEventListener("click", () => {
      done = next();
      update();
    });
  }

  function panel({name}) {
    const box = add(board, "div"), table = add(box, "table");
    add(table, "caption", {}, name);
    const head = add(table, "tr");
    ["key", "last written", "comes back"].forEach(word => add(head, "th", {scope: "col"}, word));
    const rows = ["A", "B"].map(key => {
      const row = add(table, "tr");
      add(row, "th", {scope: "row"}, key);
      return ["", "", "min-width:68px"].map(style => add(row, "td", {style}));
    });
    const below = add(box, "div", {style: "display:flex;align-items:center;gap:8px"});
    const paint = planeIn(below);
    const column = add(below, "table");
    add(column, "caption", {}, "state");
    return {rows, paint, numbers: [0, 1].map(() => add(add(column, "tr"), "td"))};
  }

  function stateAfter({fades, replaces}, keys) {
    return done.reduce((before, [name, value]) => {
      const state = before.map(number => fades ? number * knobs.decay : number), key = keys[name];
      const change = replaces ? knobs.beta * (value - dot(key, state)) : value;
      return state.map((number, i) => number + change * key[i]);
    }, [0, 0]);
  }

  function update() {
    const turn = knobs.angle * Math.PI / 180, last = Object.fromEntries(done);
    const keys = {A: [1, 0], B: [Math.cos(turn), Math.sin(turn)]};
    const sentences = memories.map((memory, i) => {
      const state = stateAfter(memory, keys);
      const answers = Object.entries(keys).map(([name, key]) =>
        answer(name, key, dot(key, state), last[name]));
      answers.forEach((one, row) => showAnswer(panels[i].rows[row], one));
      panels[i].numbers.forEach((cell, row) => { cell.textContent = shown(state[row]); });
      panels[i].paint(state, answers);
      return `${memory.name}: ${answers.map(one => one.told).join("; ")}.`;
    });
    const written = done.map(write => write.join(" = ")).join(", ");
    list.textContent = `Written so far: ${written || "nothing"}.`;
    const product = shown(keys.B[0]);
    text.textContent = done.length ? [`A · B = ${product}: moving one key's answer by 1 moves ` +
      `the other's by ${product}.`, ...sentences].join("\n") : "Nothing is written yet.";
  }

  function answer(name, key, back, wanted) {
    const one = {name, key, back, wanted};
    if (wanted === undefined) return {...one, sign: "–", told: `${name} was never written`};
    const right = Math.abs(back - wanted) <= near;
    return right ? {...one, sign: "✓ right", told: `${name} is right`}
      : {...one, sign: "× wrong", told: `${name} gives back ${shown(back)}, not ${wanted}`};
  }

  function showAnswer(cells, {wanted, back, sign}) {
    const words = [wanted ?? "nothing", shown(back), sign];
    cells.forEach((cell, i) => { cell.textContent = words[i]; });
    cells[2].style.background = GROUNDS[sign];
    cells[2].style.color = sign === "–" ? "inherit" : "#ffffff";
  }

  moves.forEach(move => move());
}
