// A mask to click, and the weights that three ways of masking give.
function show({scores, labels, keep}) {
  const ways = ["−∞ before softmax", "−10⁹ before softmax", "0 after softmax"];
  let way = 0;
  const chooseWay = choice(root, "how hidden keys are masked", ways, number => {
    way = number;
    update();
  });
  const board = add(root, "div", {class: "side-by-side"});
  const [buttons] = table("keep (click to change)", button);
  const [cells, sums] = table("weights", cell => cell, "Σ");
  const text = said(root);

  // A table of queries by keys; `make` fills a cell. Returns the cells and the ends of rows.
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
      const rowOfCells = labels.map((_, key) => make(add(row, "td"), query, key));
      if (last) ends.push(add(row, "td", {class: "bare"}));
      return rowOfCells;
    });
    return [grid, ends];
  }

  function button(cell, query, key) {
    const made = add(cell, "button", {type: "button"});
    made.addEventListener("click", () => {
      keep[query][key] = !keep[query][key];
      update();
    });
    return made;
  }

  function weightsOf(row, kept) {
    if (way === 2) return softmax(row).map((weight, key) => kept[key] ? weight : 0);
    return softmax(row.map((score, key) => kept[key] ? score : way ? -1e9 : -Infinity));
  }

  function update() {
    const wrong = new Set();
    scores.forEach((row, query) => {
      const weights = weightsOf(row, keep[query]);
      weights.forEach((weight, key) => showKey(query, key, weight, wrong));
      showSum(query, weights.reduce((total, weight) => total + weight, 0), wrong);
    });
    text.textContent = [...wrong].join(" ") || "Each row shares 1 among the keys it may see.";
  }

  function showKey(query, key, weight, wrong) {
    const toggle = buttons[query][key], cell = cells[query][key], kept = keep[query][key];
    const sees = `“${labels[query]}” ${kept ? "sees" : "doesn't see"} “${labels[key]}”`;
    toggle.textContent = kept ? "✓" : "×";
    toggle.style.background = kept ? palette.seen : palette.hidden;
    toggle.setAttribute("aria-label", sees);
    cell.textContent = digits(weight);
    cell.style.background = shade(weight);
    cell.style.color = ink(weight);
    const leaks = !kept && weight > 0;
    cell.style.boxShadow = leaks ? `inset 0 0 0 2px ${palette.red}` : "none";
    if (leaks) wrong.add("A hidden key gets weight (framed).");
  }

  function showSum(query, sum, wrong) {
    const even = Math.abs(sum - 1) < 1e-6;
    sums[query].textContent = digits(sum);
    sums[query].style.color = even ? "inherit" : palette.red;
    sums[query].style.fontWeight = even ? "normal" : "bold";
    if (Number.isNaN(sum)) wrong.add("A row with nothing to see is NaN.");
    else if (!even) wrong.add("A row doesn't sum to 1: hidden keys took part in the softmax.");
  }

  chooseWay(2);
}
