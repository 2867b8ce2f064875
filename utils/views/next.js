// A text, token by token: choose one, and see what the model found likeliest to come after it.
function show({tokens, likeliest, start}) {
  style.textContent += `
    .attention-view .tokens { display: flex; flex-wrap: wrap; gap: 2px; max-width: 46em; }
    .attention-view .tokens label { padding: 0 4px; border: 1px solid ${palette.frame}; }
    .attention-view .tokens label.chosen { font-weight: normal; }
    .attention-view .tokens input { position: absolute; opacity: 0; pointer-events: none; }`;
  const choose = choice(root, "token", tokens, update, "tokens");
  const table = add(root, "table");
  add(table, "caption", {}, "likeliest next tokens");
  const most = Math.max(...likeliest.map(({length}) => length));
  const bars = Array.from({length: most}, () => bar(table));
  const text = said(root);

  function update(place) {
    const next = tokens[place + 1];
    bars.forEach((row, rank) => {
      const [token = "", share = 0] = likeliest[place][rank] || [];
      fillBar(row, share, token === next ? palette.orange : palette.blue);
      row.name.textContent = token;
      row.name.parentElement.hidden = !token;
      row.share.textContent = token && percent(share);
    });
    text.textContent = `After “${tokens[place]}”: ${told(place, next)}`;
  }

  function told(place, next) {
    const [[best, share]] = likeliest[place];
    const likely = `“${best}” is the likeliest (${percent(share)}).`;
    if (next === undefined) return likely;
    if (next === best) return `“${best}”, which does come next, is the likeliest (${percent(share)}).`;
    const found = likeliest[place].find(([token]) => token === next);
    const sure = found ? ` (${percent(found[1])})` : ", which is none of these";
    return `${likely} “${next}” comes next${sure}.`;
  }

  const percent = share => share < 0.01 ? "<1%" : `${Math.round(100 * share)}%`;
  choose(start);
}
