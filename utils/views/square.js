// A model completes a square: move through its training, or move a corner it is given.
function show({source, moments, grid, names}) {
  const SIDE = 300, REACH = 2, STEP = 0.1;
  const place = value => SIDE * (value + REACH) / (2 * REACH);
  const given = source.map(corner => [...corner]);
  let answer = moments.at(-1);
  const board = draw(root, "svg", {width: SIDE, height: SIDE, style: "border:1px solid #d3dce4;touch-action:none"});
  const arrows = draw(board, "g");
  const corners = names.map((name, number) => {
    const color = number < 2 ? palette.blue : palette.orange;
    const group = draw(board, "g", number < 2 ? {tabindex: 0, role: "button", style: "cursor:move"} : {});
    draw(group, "circle", {r: 13, fill: color});
    draw(group, "text", {"text-anchor": "middle", dy: 5, fill: "white", "font-weight": "bold"}, name);
    return group;
  });
  const text = said(root);
  const tell = slider(root, "after epoch", {min: 0, max: moments.length - 1, step: 1, value: moments.length - 1}, number => {
    source.forEach((corner, which) => { given[which] = [...corner]; });
    answer = moments[number];
    update();
    return moments[number].epoch;
  });

  corners.slice(0, 2).forEach((group, which) => {
    const move = (x, y) => {
      given[which] = [x, y].map(value => Math.min(Math.max(value, grid.low), grid.high));
      answer = interpolated(given.flat());
      update();
    };
    group.addEventListener("pointerdown", event => { group.setPointerCapture(event.pointerId); group.focus(); });
    group.addEventListener("pointermove", event => {
      if (!group.hasPointerCapture(event.pointerId)) return;
      const box = board.getBoundingClientRect();
      const at = (pixel, size) => 2 * REACH * pixel / size - REACH;
      move(at(event.clientX - box.left, box.width), -at(event.clientY - box.top, box.height));
    });
    group.addEventListener("keydown", event => {
      const way = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key];
      if (!way) return;
      event.preventDefault();
      move(given[which][0] + STEP * way[0], given[which][1] + STEP * way[1]);
    });
  });

  // The answer at a point between those of the grid: the mean of the 16 around it, nearer ones more.
  function interpolated(point) {
    const steps = point.map(value => (value - grid.low) / (grid.high - grid.low) * (grid.n - 1));
    const floors = steps.map(step => Math.min(Math.floor(step), grid.n - 2));
    const numbers = Array(8).fill(0);
    for (let corner = 0; corner < 16; corner++) {
      let share = 1, index = 0;
      steps.forEach((step, axis) => {
        const up = corner >> axis & 1, above = step - floors[axis];
        share *= up ? above : 1 - above;
        index = index * grid.n + floors[axis] + up;
      });
      numbers.forEach((_, i) => { numbers[i] += share * grid.answers[8 * index + i] / grid.scale; });
    }
    const pairs = [0, 2, 4, 6].map(at => numbers.slice(at, at + 2));
    return {corners: pairs.slice(0, 2), weights: pairs.slice(2)};
  }

  function update() {
    const all = [...given, ...answer.corners];
    all.forEach(([x, y], number) => {
      corners[number].setAttribute("transform", `translate(${place(x)} ${place(-y)})`);
      const told = `corner ${names[number]} at ${digits(x)}, ${digits(y)}; arrow keys move it`;
      if (number < 2) corners[number].setAttribute("aria-label", told);
    });
    arrows.replaceChildren();
    answer.weights.forEach((row, asking) => row.forEach((weight, asked) => {
      const [from, to] = [answer.corners[asking], given[asked]];
      draw(arrows, "line", {x1: place(from[0]), y1: place(-from[1]), x2: place(to[0]), y2: place(-to[1]),
        stroke: palette.orange, "stroke-width": 8 * weight, opacity: 0.5});
    }));
    text.textContent = answer.corners.map(([x, y], number) => {
      const looks = answer.weights[number].map((weight, asked) => `${digits(weight)} to corner ${names[asked]}`);
      return `Corner ${names[2 + number]}: ${digits(x)}, ${digits(y)}; it gives ${looks.join(" and ")}.`;
    }).join(" ");
  }
  tell();
}
