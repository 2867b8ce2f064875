// A mask to click, and what three ways of masking make of the weights.
function show({scores, labels, keep}) {
  const n = labels.length;
  const ways = ["−∞ before softmax", "−10⁹ before softmax", "0 after softmax"];
  let way = 0;
  const chooseWay = choice(root, "how hidden keys are masked", ways, number => { way = number; update(); });
  const board = add(root, "div", {class: "row"});
  const [buttons] = table("keep (click to change)", (cell, query, key) => {
    const button = add(cell, "button", {type: "button"});
    button.addEventListener("click", () => { keep[query][key] = !keep[query][key]; update(); });
    return button;
  });
  const [cells, sums] = table("weights", cell => cell, "Σ");
  const text = said(root);

  function table(caption, make, last = "") {
    const made = add(board, "table");
    add(made, "caption", {}, caption);
    const head = add(made, "tr");
    add(head, "td", {class: "bare"});
    [...labels, ...last].forEach(name => add(head, "th", {scope: "col"}, name));
    const ends = [];
    const grid = labels.map((label, query) => {
      const row = add(made, "tr");
      add(row, "th", {scope: "row", style: "text-align:right"}, label);
      const cellsOfRow = labels.map((_, key) => make(add(row, "td"), query, key));
      if (last) ends.push(add(row, "td", {class: "bare"}));
      return cellsOfRow;
    });
    return [grid, ends];
  }

  function weightsOf(row, kept) {
    if (way === 2) return softmax(row).map((weight, key) => kept[key] ? weight : 0);
    return softmax(row.map((score, key) => kept[key] ? score : way ? -1e9 : -Infinity));
  }

  function update() {
    const wrong = new Set();
    scores.forEach((row, query) => {
      const weights = weightsOf(row, keep[query]);
      const sum = weights.reduce((total, weight) => total + weight, 0);
      weights.forEach((weight, key) => {
        const button = buttons[query][key], kept = keep[query][key], leaks = !kept && weight > 0;
        button.textContent = kept ? "✓" : "×";
        button.style.background = kept ? palette.seen : palette.hidden;
        button.setAttribute("aria-label", `“${labels[query]}” ${kept ? "sees" : "doesn't see"} “${labels[key]}”`);
        const cell = cells[query][key];
        cell.textContent = digits(weight);
        cell.style.background = shade(weight);
        cell.style.color = ink(weight);
        cell.style.boxShadow = leaks ? `inset 0 0 0 2px ${palette.red}` : "none";
        if (leaks) wrong.add("A hidden key gets weight (framed).");
      });
      const even = Math.abs(sum - 1) < 1e-6;
      sums[query].textContent = digits(sum);
      sums[query].style.color = even ? "#222" : palette.red;
      sums[query].style.fontWeight = even ? "normal" : "bold";
      if (Number.isNaN(sum)) wrong.add("A row with nothing to see is NaN.");
      else if (!even) wrong.add("A row doesn't sum to 1: hidden keys had their share of the softmax.");
    });
    text.textContent = [...wrong].join(" ") || "Each row shares 1 among the keys it may see.";
  }
  chooseWay(0);
}
