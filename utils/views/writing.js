// A small GPT that writes in the page, with the weights of a trained model.
function gpt({shapes, weights, n_heads, n_context}) {
  const bytes = Uint8Array.from(atob(weights), letter => letter.charCodeAt(0));
  const halves = new DataView(bytes.buffer);
  const parts = {};
  let start = 0;
  for (const [name, shape] of shapes) {
    const size = shape.reduce((product, length) => product * length, 1);
    const numbers = Float32Array.from({length: size},
      (_, i) => half(halves.getUint16(2 * (start + i), true)));
    parts[name] = {numbers, width: shape.at(-1)};
    start += size;
  }
  const n_layers = shapes.filter(([name]) => name.endsWith("attention.query.weight")).length;

  function half(bits) {
    const sign = bits >> 15 ? -1 : 1, power = bits >> 10 & 31, rest = bits & 1023;
    return sign * (power ? 2 ** (power - 15) * (1 + rest / 1024) : 2 ** -14 * rest / 1024);
  }

  function row(name, number) {
    const {numbers, width} = parts[name];
    return numbers.subarray(number * width, (number + 1) * width);
  }

  function linear(x, name) {
    const {numbers, width} = parts[`${name}.weight`];
    return parts[`${name}.bias`].numbers.map((bias, out) => {
      let sum = bias;
      for (let i = 0; i < width; i++) sum += numbers[out * width + i] * x[i];
      return sum;
    });
  }

  function norm(x, name) {
    const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
    const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
    const [scale, shift] = ["weight", "bias"].map(part => parts[`${name}.${part}`].numbers);
    return x.map((value, i) => (value - mean) / Math.sqrt(variance + 1e-5) * scale[i] + shift[i]);
  }

  // The error function, to 1.5e-7: Abramowitz and Stegun, 7.1.26.
  function erf(x) {
    const t = 1 / (1 + 0.3275911 * Math.abs(x));
    const tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 +
      t * (-1.453152027 + t * 1.061405429))));
    return Math.sign(x) * (1 - tail * Math.exp(-x * x));
  }
  const gelu = x => x / 2 * (1 + erf(x / Math.SQRT2));
  const plus = (a, b) => a.map((value, i) => value + b[i]);

  function attention(words, name) {
    const [queries, keys, values] = ["query", "key", "value"].map(
      part => words.map(word => linear(word, `${name}.${part}`)));
    const width = queries[0].length / n_heads;
    return queries.map((query, place) => {
      const context = new Float32Array(query.length);
      for (let first = 0; first < query.length; first += width) {
        const head = Array.from({length: width}, (_, i) => first + i);
        const shares = softmax(keys.slice(0, place + 1).map(
          key => head.reduce((sum, i) => sum + query[i] * key[i], 0) / Math.sqrt(width)));
        shares.forEach((share, key) => head.forEach(i => { context[i] += share * values[key][i]; }));
      }
      return linear(context, `${name}.output`);
    });
  }

  function block(words, name) {
    const normed = words.map(word => norm(word, `${name}.attention_norm`));
    const seen = attention(normed, `${name}.attention`).map((part, i) => plus(words[i], part));
    return seen.map(word => {
      const inner = linear(norm(word, `${name}.feed_forward_norm`), `${name}.feed_forward.0`);
      return plus(word, linear(inner.map(gelu), `${name}.feed_forward.2`));
    });
  }

  // The logits of the next token, given at most n_context tokens.
  return tokens => {
    let words = tokens.map((token, place) =>
      plus(row("tokens.weight", token), row("positions.weight", place)));
    for (let layer = 0; layer < n_layers; layer++) words = block(words, `blocks.${layer}`);
    return Array.from(linear(norm(words.at(-1), "norm"), "logits"));
  };
}

function show(data) {
  const {letters, signs, n_context} = data, n = letters.length;
  const logitsOf = gpt(data), how = {temperature: 1, k: n, p: 1};
  const token = Object.fromEntries(letters.flatMap(
    (letter, number) => [[letter, number], [signs[letter] || letter, number]]));
  let read = [], start = 0, waiting = 0;

  const line = add(root, "label", {}, "Text to go on with ");
  const signed = [...data.prompt].map(letter => signs[letter] || letter).join("");
  const given = add(line, "input", {size: 30, value: signed});
  const knobs = [
    slider(root, "temperature", {min: 0, max: 2, step: 0.1, value: 0.8}, value => {
      how.temperature = value;
      return changed(value.toFixed(1));
    }),
    slider(root, "top-k", {min: 1, max: n, step: 1, value: n}, value => {
      how.k = value;
      return changed(value < n ? value : "all");
    }),
    slider(root, "top-p", {min: 0.05, max: 1, step: 0.05, value: 1}, value => {
      how.p = value;
      return changed(value.toFixed(2));
    }),
  ];
  const buttons = add(root, "div", {class: "side-by-side"});
  button("one character", () => write(1));
  button("100 characters", () => write(100));
  button("start over", begin);
  const page = add(root, "pre", {style: "white-space:pre-wrap;max-width:42em;min-height:3em;" +
    `padding:6px;margin:6px 0;border:1px solid ${palette.frame};background:#ffffff;color:#222`});
  const table = add(root, "table");
  add(table, "caption", {}, "the next character");
  const bars = Array.from({length: data.n_bars}, () => bar(table));
  const text = said(root);

  function button(name, press) {
    add(buttons, "button", {type: "button"}, name).addEventListener("click", press);
  }

  function changed(shown) {
    if (read.length) update();
    return shown;
  }

  // Characters that the model doesn't know are left out.
  function begin() {
    clearTimeout(waiting);
    const known = [...given.value].filter(letter => letter in token);
    read = (known.length ? known : [...data.prompt]).map(letter => token[letter]);
    start = 0;
    update();
  }

  // When the context is full, start over with half of it, as `generate` does.
  function context() {
    if (read.length - start > n_context) start = read.length - Math.floor(n_context / 2);
    return read.slice(start);
  }

  // All tokens, the likeliest first, with their shares and whether they may be drawn.
  function ranked() {
    const logits = logitsOf(context());
    const cold = how.temperature === 0;
    const shares = softmax(logits.map(logit => cold ? logit : logit / how.temperature));
    const order = shares.map((share, number) => ({share, number}));
    order.sort((a, b) => b.share - a.share);
    const most = cold ? 1 : how.k;
    const total = order.slice(0, most).reduce((sum, {share}) => sum + share, 0);
    let before = 0;
    order.forEach((one, rank) => {
      one.kept = rank < most && before < how.p;
      before += one.share / total;
    });
    return order;
  }

  function drawn(order) {
    const kept = order.filter(one => one.kept);
    let level = Math.random() * kept.reduce((sum, {share}) => sum + share, 0);
    return (kept.find(({share}) => (level -= share) <= 0) || kept[0]).number;
  }

  function write(count) {
    clearTimeout(waiting);
    read.push(drawn(ranked()));
    update();
    if (count > 1) waiting = setTimeout(() => write(count - 1), 0);
  }

  function update() {
    const order = ranked(), kept = order.filter(one => one.kept);
    const sum = kept.reduce((total, {share}) => total + share, 0);
    page.textContent = read.map(number => letters[number]).join("");
    bars.forEach((row, rank) => {
      const one = order[rank], chance = one.kept ? one.share / sum : 0;
      row.name.textContent = signs[letters[one.number]] || letters[one.number];
      fillBar(row, one.kept ? chance : one.share, one.kept ? palette.blue : palette.frame);
      row.share.textContent = `${Math.round(100 * chance)}%`;
    });
    const best = letters[order[0].number];
    text.textContent = `It draws from ${kept.length} of ${n} characters. The likeliest is ` +
      `“${signs[best] || best}” (${Math.round(100 * order[0].share / sum)}%).`;
  }

  knobs.forEach(tell => tell());
  begin();
}
