// Where a word looks: choose one, and lines show its weights, head by head.
function show({weights, queries, keys, titles}) {
  let head = 0, query = 0;
  const several = titles.length > 1;
  const chooseHead = several && choice(root, "head", titles, number => { head = number; update(); });
  const board = add(root, "div", {class: "row", style: "gap:0"});
  const chooseQuery = choice(board, "query", queries, number => { query = number; update(); }, "words");
  const height = ROW * Math.max(queries.length, keys.length);
  const lines = draw(board, "svg", {width: 150, height, "aria-hidden": "true"});
  const column = add(board, "div", {"aria-hidden": "true"});
  const cells = keys.map(() => add(column, "label", {style: "display:flex;cursor:default"}));
  const text = said(root);

  function update() {
    const row = weights[head][query];
    lines.replaceChildren();
    row.forEach((weight, key) => {
      cells[key].textContent = `${keys[key]}  ${digits(weight)}`;
      cells[key].style.background = shade(weight);
      cells[key].style.color = ink(weight);
      draw(lines, "line", {x1: 4, y1: ROW * (query + 0.5), x2: 146, y2: ROW * (key + 0.5),
        stroke: palette.blue, "stroke-width": weight && 0.5 + 7 * weight, "stroke-linecap": "round"});
    });
    const most = row.map((weight, key) => [weight, keys[key]]).sort((one, other) => other[0] - one[0]);
    const named = most.slice(0, 3).map(([weight, key]) => `“${key}” ${digits(weight)}`);
    text.textContent = `${several ? titles[head] + ": " : ""}“${queries[query]}” looks at ` +
      named.join(", ") + (row.length > 3 ? " …" : ".");
  }
  chooseQuery(0);
  if (several) chooseHead(0);
}
