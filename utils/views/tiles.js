// Scores that come tile by tile, and what is known of each query's softmax so far.
function show({scores, tile}) {
  const n = scores[0].length, steps = Math.ceil(n / tile);
  let taken = 0;
  const range = {min: 0, max: steps, step: 1, value: Math.min(2, steps)};
  const move = slider(root, "tiles taken in", range, value => {
    taken = value;
    update();
    return value;
  });
  const table = add(root, "table");
  add(table, "caption", {}, "scores; the stronger the color, the larger their share so far");
  const head = add(table, "tr");
  add(head, "td", {class: "bare"});
  const names = [...scores[0].map((_, key) => `key ${key}`), "m", "ℓ"];
  names.forEach(name => add(head, "th", {scope: "col"}, name));
  const rows = scores.map((row, query) => {
    const line = add(table, "tr");
    add(line, "th", {scope: "row"}, `query ${query}`);
    return {cells: row.map(() => add(line, "td")), m: number(line), l: number(line)};
  });
  const text = said(root);

  function number(line) {
    return add(line, "td", {class: "bare", style: "min-width:64px"});
  }

  // A query's largest score and its sum after `seen` keys.
  function state(row, seen) {
    const m = Math.max(-Infinity, ...row.slice(0, seen));
    return {m, l: row.slice(0, seen).reduce((sum, score) => sum + Math.exp(score - m), 0)};
  }

  function update() {
    const seen = Math.min(taken * tile, n), before = Math.max(seen - tile, 0);
    const risen = [];
    scores.forEach((row, query) => {
      const {m, l} = state(row, seen), old = state(row, before).m;
      if (taken > 1 && m > old) risen.push(`query ${query} (m rises by ${digits(m - old)}, so ` +
        `its earlier ℓ shrinks by a factor of ${digits(Math.exp(old - m))})`);
      row.forEach((score, key) => showScore(rows[query].cells[key], score, key, seen, m, l));
      rows[query].m.textContent = m === -Infinity ? "−∞" : digits(m);
      rows[query].l.textContent = digits(l);
    });
    text.textContent = told(risen);
  }

  function told(risen) {
    if (!taken) return "Nothing is known yet: m is −∞, and ℓ is 0.";
    if (risen.length) return `A larger score came for ${risen.join(", ")}.`;
    return taken > 1 ? "No query got a larger score: ℓ only grows." : "The first tile.";
  }

  function showScore(cell, score, key, seen, m, l) {
    const share = key < seen ? Math.exp(score - m) / l : 0;
    const last = key < seen && key >= seen - tile;
    cell.textContent = digits(score);
    cell.style.background = key < seen ? shade(share) : "#ffffff";
    cell.style.color = key < seen ? ink(share) : "#6a6a6a";
    cell.style.boxShadow = last ? `inset 0 0 0 2px ${palette.orange}` : "none";
  }

  move();
}
