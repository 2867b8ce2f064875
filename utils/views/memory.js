// The memory of a KV cache: how many words, texts and key heads fit on a card.
function show({layers, heads, width, latent, card, model}) {
  const WIDE = 440, TALL = 26;
  let words = 0, texts = 0, kept = 0;
  const moveWords = slider(root, "words in each text", powers(7, 17, 13), power => {
    words = 2 ** power;
    update();
    return words.toLocaleString("en");
  });
  const moveTexts = slider(root, "texts at once", powers(0, 7, 2), power => {
    texts = 2 ** power;
    update();
    return texts;
  });
  const names = [...heads.map(n => `${n} key head${n > 1 ? "s" : ""}`), `a latent of ${latent}`];
  const chooseKept = choice(root, "what is kept of each word", names, number => {
    kept = number < heads.length ? 2 * heads[number] * width : latent;
    update();
  });
  const size = {width: WIDE, height: TALL + 4, viewBox: `0 0 ${WIDE} ${TALL + 4}`};
  const bar = draw(add(root, "div"), "svg", {...size, "aria-hidden": "true"});
  const text = said(root);

  function powers(min, max, value) {
    return {min, max, step: 1, value};
  }

  function update() {
    const cache = 2 * layers * kept * words * texts / 1e9, all = model + cache;
    const scale = WIDE / Math.max(card, all);
    bar.replaceChildren();
    box(0, model * scale, palette.frame);
    box(model * scale, cache * scale, all > card ? palette.red : palette.blue);
    const edge = Math.min(card * scale, WIDE - 1);
    draw(bar, "line", {x1: edge, x2: edge, y1: 0, y2: TALL + 4, stroke: "#222"});
    text.textContent = `The model takes ${model} GB, the cache ${shown(cache)}. ` +
      (all > card ? `Together that is more than the card's ${card} GB.`
        : `${shown(card - all)} of the card's ${card} GB are left.`);
  }

  function shown(gigabytes) {
    return gigabytes < 1 ? `${Math.round(gigabytes * 1000)} MB` : `${gigabytes.toFixed(1)} GB`;
  }

  function box(x, width, fill) {
    draw(bar, "rect", {x, y: 2, width, height: TALL, fill});
  }

  chooseKept(0);
  moveWords();
  moveTexts();
}
