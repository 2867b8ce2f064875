// Modules side by side: change a word, and see which of their outputs move.
function show({labels, names, moved, start}) {
  const choose = choice(root, "word to change", labels, update);
  const table = add(root, "table");
  add(table, "caption", {}, "outputs");
  const head = add(table, "tr");
  add(head, "td", {class: "bare"});
  names.forEach(name => add(head, "th", {scope: "col"}, name));
  const rows = labels.map(label => {
    const row = add(table, "tr");
    add(row, "th", {scope: "row", style: "text-align:right"}, label);
    return names.map(() => add(row, "td"));
  });
  const text = said(root);
  const LOOKS = {
    moves: {background: palette.blue, color: "#ffffff", boxShadow: "none"},
    leaks: {background: palette.red, color: "#ffffff", boxShadow: "none"},
    still: {background: "transparent", color: "inherit", boxShadow: "none"},
    blind: {background: "transparent", color: "inherit",
      boxShadow: `inset 0 0 0 2px ${palette.red}`},
  };

  // What an output does, and whether it should: it may move from the changed word on.
  function state(module, changed, output) {
    if (moved[module][changed][output]) return output < changed ? "leaks" : "moves";
    return output < changed ? "still" : "blind";
  }

  function update(changed) {
    const states = names.map((_, module) =>
      labels.map((_, output) => state(module, changed, output)));
    rows.forEach((cells, output) => cells.forEach((cell, module) => {
      const now = states[module][output];
      cell.textContent = now === "still" ? "–" : now;
      Object.assign(cell.style, LOOKS[now]);
    }));
    text.textContent = `“${labels[changed]}” is changed. ` +
      states.map((all, module) => `${names[module]}: ${told(all)}.`).join(" ");
  }

  function told(states) {
    const count = what => states.filter(state => state === what).length;
    const found = [["leaks", "moved too early"], ["blind", "stood still"]].filter(
      ([what]) => count(what)).map(([what, words]) => `${count(what)} ${words}`);
    return found.join(", ") || "nothing wrong";
  }

  choose(start);
}
