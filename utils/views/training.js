// Heads at moments of a training: their maps, their scores, and the loss.
function show({steps, losses, titles, n, scale, weights, scores}) {
  const CELL = 6, SIDE = CELL * n, WIDE = 300, TALL = 90;
  let at = 0;
  const last = steps.length - 1;
  const curve = draw(add(root, "div"), "svg", {width: WIDE, height: TALL, "aria-hidden": "true"});
  const most = Math.max(...losses);
  const point = (loss, moment) =>
    [4 + (WIDE - 8) * moment / last, TALL - 4 - (TALL - 8) * loss / most];
  const path = losses.map((loss, moment) => point(loss, moment).join(",")).join(" ");
  draw(curve, "polyline", {points: path, fill: "none", stroke: palette.blue, "stroke-width": 2});
  const dot = draw(curve, "circle", {r: 5, fill: palette.orange});
  const tell = slider(root, "step", {min: 0, max: last, step: 1, value: last}, moment => {
    at = moment;
    update();
    return steps[moment];
  });
  const row = add(root, "div", {class: "side-by-side"});
  const boards = titles.map(board);
  const text = said(root);

  function board(title) {
    const box = add(row, "div");
    add(box, "div", {style: "font-weight:bold"}, title);
    const look = `border:1px solid ${palette.frame}`;
    const map = draw(box, "svg", {width: SIDE, height: SIDE, style: look, "aria-hidden": "true"});
    const cells = [];
    for (let query = 0; query < n; query++) for (let key = 0; key <= query; key++) {
      const place = {x: CELL * key, y: CELL * query, width: CELL, height: CELL};
      cells.push(draw(map, "rect", place));
    }
    return {cells, score: add(box, "div")};
  }

  function update() {
    const [x, y] = point(losses[at], at);
    dot.setAttribute("cx", x);
    dot.setAttribute("cy", y);
    boards.forEach(({cells, score}, head) => {
      cells.forEach((cell, i) => cell.setAttribute("fill", shade(weights[at][head][i] / scale)));
      score.replaceChildren(...Object.entries(scores).flatMap(([name, values]) =>
        [`${name} ${digits(values[at][head])}`, document.createElement("br")]));
    });
    text.textContent = `After step ${steps[at]}, the loss is ${digits(losses[at])}.` +
      Object.entries(scores).map(told).join("");
  }

  function told([name, values]) {
    const best = values[at].indexOf(Math.max(...values[at]));
    return ` The highest score for “${name}” is ${digits(values[at][best])} (${titles[best]}).`;
  }

  tell();
}
