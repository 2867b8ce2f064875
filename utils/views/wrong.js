// Models, each with one thing wrong: its answer comes first, and the rest on request.
function show({models, right}) {
  const choose = choice(root, "model", models.map((_, number) => String(number + 1)), update);
  root.querySelector("fieldset").className = "tokens";
  style.textContent += `
    .attention-view .tokens { display: flex; flex-wrap: wrap; gap: 2px; max-width: 46em; }
    .attention-view .tokens label { padding: 0 6px; border: 1px solid ${palette.frame}; }
    .attention-view .tokens label.chosen { font-weight: normal; }
    .attention-view .tokens input { position: absolute; opacity: 0; pointer-events: none; }
    .attention-view dt { font-weight: bold; }
    .attention-view dd { margin: 0 0 6px; white-space: pre-wrap; overflow-wrap: anywhere; }`;
  const list = add(root, "dl", {style: "max-width:42em"});
  const answer = part("“What is the capital of France?”");
  const facts = [
    ["loss", model => `${model.loss} (the right model: ${right.loss})`],
    ["logits", model => `off by ${short(model.off)} at most; in pieces, by ${short(model.off_in_pieces)}`],
    ["what is wrong", model => model.mistake],
  ].map(([name, tell]) => {
    const shown = part(name);
    const button = add(shown, "button", {type: "button"}, `show ${name}`);
    const text = add(shown, "span");
    button.addEventListener("click", () => reveal(true));
    function reveal(open) {
      button.hidden = open;
      text.textContent = open ? tell(models[chosen]) : "";
    }
    return reveal;
  });
  const text = said(root);
  let chosen = 0;

  function short(number) {
    return Number(number.toPrecision(3));
  }

  function part(name) {
    add(list, "dt", {}, name);
    return add(list, "dd");
  }

  function update(number) {
    chosen = number;
    facts.forEach(reveal => reveal(false));
    answer.textContent = models[number].answer.trim() ? models[number].answer : "(nothing)";
    text.textContent = `Model ${number + 1} of ${models.length}. Is anything wrong with it?`;
  }

  choose(0);
}
