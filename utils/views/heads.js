// Where a word looks: choose one, and lines show its weights, head by head.
function show({weights, queries, keys, titles, start}) {
  let head = 0, query = 0;
  const several = titles.length > 1;
  const chooseHead = several && choice(root, "head", titles, number => {
    head = number;
    update();
  });
  const board = add(root, "div", {class: "side-by-side", style: "gap:0"});
  const chooseQuery = choice(board, "query", queries, number => {
    query = number;
    update();
  }, "words");
  const height = ROW * Math.max(queries.length, keys.length);
  const lines = draw(board, "svg", {width: 150, height, "aria-hidden": "true"});
  const column = add(board, "div", {"aria-hidden": "true"});
  const cells = keys.map(() => add(column, "label", {style: "display:flex;cursor:default"}));
  const text = said(root);

  function update() {
    const row = weights[head][query];
    lines.replaceChildren();
    row.forEach((weight, key) => {
      cells[key].textContent = `${keys[key]} ${digits(weight)}`;
      cells[key].style.background = shade(weight);
      cells[key].style.color = ink(weight);
      const [y1, y2] = [query, key].map(place => ROW * (place + 0.5));
      const thick = weight && 0.5 + 7 * weight;
      const look = {stroke: palette.blue, "stroke-width": thick, "stroke-linecap": "round"};
      draw(lines, "line", {x1: 4, y1, x2: 146, y2, ...look});
    });
    text.textContent = told(row);
  }

  function told(row) {
    const ranked = row.map((weight, key) => [weight, keys[key]]).sort((a, b) => b[0] - a[0]);
    const named = ranked.slice(0, 3).map(([weight, key]) => `“${key}” ${digits(weight)}`);
    const more = row.length > 3 ? " …" : ".";
    const title = several ? `${titles[head]}: ` : "";
    return `${title}“${queries[query]}” looks at ${named.join(", ")}${more}`;
  }

  chooseQuery(start);
  if (several) chooseHead(0);
}
