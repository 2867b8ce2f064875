// A model completes a square: move through its training, or move a corner it is given.
function show({source, moments, grid, names}) {
  const SIDE = 300, REACH = 2, STEP = 0.1;
  const WAYS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]};
  const pixel = value => SIDE * (value + REACH) / (2 * REACH);
  const given = source.map(corner => [...corner]);
  let answer = moments.at(-1);
  const look = `border:1px solid ${palette.frame};touch-action:none`;
  const board = draw(root, "svg", {width: SIDE, height: SIDE, style: look});
  const lines = draw(board, "g");
  const corners = names.map(corner);
  const text = said(root);
  const last = moments.length - 1;
  const tell = slider(root, "after epoch", {min: 0, max: last, step: 1, value: last}, number => {
    source.forEach((corner, which) => { given[which] = [...corner]; });
    answer = moments[number];
    update();
    return moments[number].epoch;
  });

  function corner(name, which) {
    const movable = which < given.length;
    const role = movable ? {tabindex: 0, role: "button", style: "cursor:move"} : {};
    const group = draw(board, "g", role);
    draw(group, "circle", {r: 13, fill: movable ? palette.blue : palette.orange});
    const bold = {"text-anchor": "middle", "font-weight": "bold"};
    draw(group, "text", {dy: 5, fill: movable ? "#ffffff" : "#000000", ...bold}, name);
    if (movable) listen(group, which);
    return group;
  }

  function listen(group, which) {
    group.addEventListener("pointerdown", event => {
      group.setPointerCapture(event.pointerId);
      group.focus();
    });
    group.addEventListener("pointermove", event => {
      if (!group.hasPointerCapture(event.pointerId)) return;
      const box = board.getBoundingClientRect();
      const at = share => 2 * REACH * share - REACH;
      const x = at((event.clientX - box.left) / box.width);
      move(which, x, -at((event.clientY - box.top) / box.height));
    });
    group.addEventListener("keydown", event => {
      const way = WAYS[event.key];
      if (!way) return;
      event.preventDefault();
      move(which, given[which][0] + STEP * way[0], given[which][1] + STEP * way[1]);
    });
  }

  function move(which, x, y) {
    given[which] = [x, y].map(value => Math.min(Math.max(value, grid.low), grid.high));
    answer = interpolated(given.flat());
    update();
  }

  // The answer between points of the grid: the mean of the 16 around it, nearer ones weighing more.
  function interpolated(point) {
    const width = (grid.high - grid.low) / (grid.n - 1);
    const steps = point.map(value => (value - grid.low) / width);
    const floors = steps.map(step => Math.min(Math.floor(step), grid.n - 2));
    const numbers = Array(8).fill(0);
    for (let around = 0; around < 16; around++) {
      let share = 1, index = 0;
      steps.forEach((step, axis) => {
        const up = around >> axis & 1, above = step - floors[axis];
        share *= up ? above : 1 - above;
        index = index * grid.n + floors[axis] + up;
      });
      const answers = grid.answers.slice(8 * index, 8 * index + 8);
      answers.forEach((number, i) => { numbers[i] += share * number / grid.scale; });
    }
    const pairs = [0, 2, 4, 6].map(at => numbers.slice(at, at + 2));
    return {corners: pairs.slice(0, 2), weights: pairs.slice(2)};
  }

  function update() {
    [...given, ...answer.corners].forEach(([x, y], which) => {
      corners[which].setAttribute("transform", `translate(${pixel(x)} ${pixel(-y)})`);
      const told = `corner ${names[which]} at ${digits(x)}, ${digits(y)}; arrow keys move it`;
      if (which < given.length) corners[which].setAttribute("aria-label", told);
    });
    lines.replaceChildren();
    answer.weights.forEach((row, asking) => row.forEach((weight, asked) => {
      const [[x1, y1], [x2, y2]] = [answer.corners[asking], given[asked]];
      const ends = {x1: pixel(x1), y1: pixel(-y1), x2: pixel(x2), y2: pixel(-y2)};
      const look = {stroke: palette.weights[3], "stroke-width": 8 * weight, opacity: 0.7};
      draw(lines, "line", {...ends, ...look});
    }));
    text.textContent = answer.corners.map(told).join(" ");
  }

  function told([x, y], number) {
    const looks = answer.weights[number].map(
      (weight, asked) => `${digits(weight)} to corner ${names[asked]}`);
    const name = names[given.length + number];
    return `Corner ${name}: ${digits(x)}, ${digits(y)}; it gives ${looks.join(" and ")}.`;
  }

  tell();
}
