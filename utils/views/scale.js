// What longer vectors do to softmax: move d_k, with and without dividing by its root.
function show({products, labels}) {
  let d_k = 1, divided = 0;
  const bars = draw(add(root, "div"), "svg", {width: 460, height: 150, "aria-hidden": "true"});
  const move = slider(root, "d_k", {min: 0, max: 10, step: 1, value: 2}, power => {
    d_k = 2 ** power;
    update();
    return d_k;
  });
  const chooseDivided = choice(root, "scores", ["q · k", "q · k / √d_k"], number => { divided = number; update(); });
  const text = said(root);

  function update() {
    const spread = divided ? 1 : Math.sqrt(d_k);
    const weights = softmax(products.map(product => product * spread));
    bars.replaceChildren();
    const width = 460 / labels.length;
    weights.forEach((weight, key) => {
      const x = width * key, middle = x + width / 2, height = 100 * weight;
      draw(bars, "rect", {x: x + 8, y: 120 - height, width: width - 16, height, fill: palette.blue});
      draw(bars, "text", {x: middle, y: 114 - height, "text-anchor": "middle", "font-size": 12}, digits(weight));
      draw(bars, "text", {x: middle, y: 138, "text-anchor": "middle", "font-size": 12}, labels[key]);
    });
    const slope = Math.max(...weights.map(weight => weight * (1 - weight)));
    text.textContent = `The scores spread by about ${spread.toFixed(1)}; the largest weight is ` +
      `${digits(Math.max(...weights))}. The steepest slope of a weight is ${slope.toPrecision(2)}: ` +
      (slope < 0.01 ? "next to nothing is learned from it." : "the gradient gets through.");
  }
  chooseDivided(0);
  move();
}
