// Heads at moments of a training: their maps, their scores, and the loss.
function show({steps, losses, titles, n, scale, weights, scores}) {
  const CELL = 6, SIDE = CELL * n, WIDE = 320, TALL = 120, LEFT = 48, RIGHT = 300, GROUND = 84;
  const WORD = 18; // the room for a word beside a map
  let at = 0;
  const last = steps.length - 1;
  const curve = picture(add(root, "div"), WIDE, TALL);
  const most = Math.max(...losses);
  const point = (loss, moment) =>
    [LEFT + (RIGHT - LEFT) * moment / last, GROUND - (GROUND - 8) * loss / most];
  axes();
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

  function picture(parent, width, height) {
    const size = {width, height, viewBox: `0 0 ${width} ${height}`};
    return draw(parent, "svg", {...size, "font-size": 12, fill: "#222", "aria-hidden": "true"});
  }

  function word(drawing, x, y, name, anchor = "middle", turned = 0) {
    const place = {x, y, "text-anchor": anchor, transform: `rotate(${turned} ${x} ${y})`};
    draw(drawing, "text", place, name);
  }

  function axes() {
    const line = `M${LEFT} 8V${GROUND}H${RIGHT}`;
    draw(curve, "path", {d: line, fill: "none", stroke: palette.frame});
    word(curve, 12, (GROUND + 8) / 2, "loss", "middle", -90);
    word(curve, (LEFT + RIGHT) / 2, TALL - 4, "steps");
    for (const loss of [0, most]) word(curve, LEFT - 6, point(loss, 0)[1] + 4, digits(loss), "end");
    for (const moment of [0, last]) word(curve, point(0, moment)[0], GROUND + 16, steps[moment]);
  }

  function board(title) {
    const box = add(row, "div");
    add(box, "div", {style: `font-weight:bold;padding-left:${WORD}px`}, title);
    const map = picture(box, WORD + SIDE + 1, SIDE + 1 + WORD);
    const frame = {fill: "none", stroke: palette.frame};
    draw(map, "path", {d: `M${WORD} 0.5h${SIDE}v${SIDE}h${-SIDE}z`, ...frame});
    const cells = [];
    for (let query = 0; query < n; query++) for (let key = 0; key <= query; key++) {
      const place = {x: WORD + CELL * key, y: CELL * query, width: CELL, height: CELL};
      cells.push(draw(map, "rect", place));
    }
    word(map, WORD + SIDE / 2, SIDE + WORD - 4, "key");
    word(map, 12, SIDE / 2, "query", "middle", -90);
    return {cells, score: add(box, "div", {style: `padding-left:${WORD}px`})};
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
