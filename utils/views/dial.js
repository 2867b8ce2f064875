// One pair of features of a query and a key: move both, or the distance between them.
function show({query, key}) {
  const SIZE = 220, MIDDLE = SIZE / 2, UNIT = 76;
  let place = 0, distance = 1;
  const board = add(root, "div", {class: "side-by-side"});
  const dial = draw(board, "svg", {width: SIZE, height: SIZE, "aria-hidden": "true"});
  const sliders = add(board, "div");
  const movePlace = slider(sliders, "place of the query", range(0, 40, 0), value => {
    place = value;
    update();
    return value;
  });
  const moveDistance = slider(sliders, "distance to the key", range(-6, 6, 1), value => {
    distance = value;
    update();
    return signed(value);
  });
  const text = said(sliders);

  function range(min, max, value) {
    return {min, max, step: 1, value};
  }

  function signed(number) {
    return String(number).replace("-", "−");
  }

  function turned([a, b], angle) {
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    return [a * cos - b * sin, a * sin + b * cos];
  }

  function update() {
    const [q, k] = [turned(query, place), turned(key, place + distance)];
    dial.replaceChildren();
    const frame = {cx: MIDDLE, cy: MIDDLE, r: UNIT, fill: "none", stroke: palette.frame};
    draw(dial, "circle", frame);
    arrow(q, palette.blue, "query");
    arrow(k, palette.orange, "key");
    text.textContent = `The query is at place ${place}, the key at ${signed(place + distance)}. ` +
      `Their dot product is ${digits(q[0] * k[0] + q[1] * k[1])}.`;
  }

  function arrow([a, b], color, name) {
    const [x, y] = [MIDDLE + UNIT * a, MIDDLE - UNIT * b];
    const line = {x1: MIDDLE, y1: MIDDLE, x2: x, y2: y};
    draw(dial, "line", {...line, stroke: color, "stroke-width": 3, "stroke-linecap": "round"});
    draw(dial, "circle", {cx: x, cy: y, r: 4, fill: color});
    const label = {"text-anchor": "middle", "font-size": 12, fill: "#222"};
    draw(dial, "text", {...label, x: x + 14 * Math.sign(a), y: y - 8}, name);
  }

  movePlace();
  moveDistance();
}
