// Packed rows on their way into three layers: choose how they are packed, and how they are cut.
function show({orders, colors, d_head, start}) {
  const libraries = Object.keys(orders), parts = Object.keys(colors);
  const n = orders[libraries[0]].length, size = n / parts.length, WIDE = 44;
  let packed = orders[libraries[1]], cut = orders[libraries[0]], chosen = start;
  const choosePacked = choice(root, "how rows are packed", libraries.map(
    library => `packed as in ${library}`), number => {
    packed = orders[libraries[number]];
    update();
  });
  const chooseCut = choice(root, "how rows are cut", ["cut in thirds", "cut head by head"],
    number => {
      cut = orders[libraries[number]];
      update();
    });
  const board = add(root, "div", {class: "side-by-side", style: "gap:0;flex-wrap:nowrap"});
  const chooseRow = choice(board, "packed row", packed.map((_, row) => `row ${row}`), number => {
    chosen = number;
    update();
  }, "words");
  const before = column(), lines = draw(board, "svg", {width: WIDE, height: ROW * n,
    "aria-hidden": "true", style: "flex:none"});
  const after = column(), layers = column();
  layers.forEach((cell, place) => { cell.textContent = `${part(place)} row ${place % size}`; });
  const text = said(root);

  function column() {
    const made = add(board, "div", {"aria-hidden": "true"});
    return Array.from({length: n}, () => add(made, "div", {class: "cell"}));
  }

  function part(place) {
    return parts[Math.floor(place / size)];
  }

  function update() {
    lines.replaceChildren();
    packed.forEach((place, row) => {
      const to = cut[row], right = place === to;
      name(before[row], place, false);
      name(after[to], place, !right);
      const ends = {x1: 2, x2: WIDE - 2, y1: ROW * (row + 0.5), y2: ROW * (to + 0.5)};
      draw(lines, "line", {...ends, stroke: right ? colors[part(place)] : palette.red,
        "stroke-width": row === chosen ? 5 : 1});
    });
    text.textContent = told();
  }

  function name(cell, place, wrong) {
    cell.textContent = `${wrong ? "× " : ""}${part(place)} ${place % size}`;
    cell.style.background = colors[part(place)];
    cell.style.color = "#ffffff";
    cell.style.boxShadow = wrong ? `inset 0 0 0 3px ${palette.red}` : "none";
  }

  function told() {
    const place = packed[chosen], to = cut[chosen];
    const head = Math.floor(place % size / d_head);
    const where = place === to ? "It arrives there."
      : `It arrives in row ${to % size} of ${part(to)}.weight: wrong.`;
    const wrong = packed.filter((place, row) => place !== cut[row]).length;
    return `Row ${chosen} makes feature ${place % size} of the ${part(place)}, in head ${head}. ` +
      `${where} ` + (wrong ? `${wrong} of ${n} rows are in the wrong place, and all shapes fit.`
        : "Every row is in its place.");
  }

  chooseRow(start);
  chooseCut(0);
  choosePacked(1);
}
