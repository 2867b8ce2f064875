// What longer vectors do to softmax: move d_k, with and without dividing by its root.
function show({products, labels}) {
  const WIDTH = 460 / labels.length, TALL = 100, GROUND = 120;
  let d_k = 1, divided = 0;
  const size = {width: 460, height: 150, viewBox: "0 0 460 150"};
  const bars = draw(add(root, "div"), "svg", {...size, "aria-hidden": "true"});
  const move = slider(root, "d_k", {min: 0, max: 10, step: 1, value: 6}, power => {
    d_k = 2 ** power;
    update();
    return d_k;
  });
  const chooseDivided = choice(root, "scores", ["q · k", "q · k / √d_k"], number => {
    divided = number;
    update();
  });
  const text = said(root);

  function update() {
    const spread = divided ? 1 : Math.sqrt(d_k);
    const weights = softmax(products.map(product => product * spread));
    bars.replaceChildren();
    weights.forEach(bar);
    const slope = Math.max(...weights.map(weight => weight * (1 - weight)));
    text.textContent = `The scores spread by about ${spread.toFixed(1)}; the largest weight is ` +
      `${digits(Math.max(...weights))}. The steepest slope of a weight is ` +
      `${slope.toPrecision(2)}: ` +
      (slope < 0.01 ? "next to nothing is learned from it." : "the gradient gets through.");
  }

  function bar(weight, key) {
    const middle = WIDTH * (key + 0.5), height = TALL * weight, top = GROUND - height;
    const label = {x: middle, "text-anchor": "middle", "font-size": 12};
    const box = {x: middle - WIDTH / 2 + 8, y: top, width: WIDTH - 16, height};
    draw(bars, "rect", {...box, fill: palette.blue});
    draw(bars, "text", {...label, y: top - 6}, digits(weight));
    draw(bars, "text", {...label, y: GROUND + 18}, labels[key]);
  }

  chooseDivided(0);
  move();
}
