addEventListener("DOMContentLoaded", () => {
  // Code that is wider than the page can be scrolled by keyboard, too.
  document.querySelectorAll("pre").forEach(code => { code.tabIndex = 0; });
  const results = document.getElementById("search-results");
  if (results) showWhere(results);
});

// Below each page that the search finds: up to three sections, and what they say about the words.
function showWhere(results) {
  const query = new URLSearchParams(location.search).get("q") || "";
  const stemmer = new Stemmer();
  const words = query.toLowerCase().match(/\w+/g) || [];
  const stems = words.flatMap(word => [word, stemmer.stemWord(word)]);
  const sought = new RegExp(`\\b(${stems.join("|")})\\w*`, "i");
  const explain = result => result.append(...places(result.querySelector("a"), sought));
  results.querySelectorAll("li").forEach(explain);
  new MutationObserver(changes => {
    const added = changes.flatMap(change => [...change.addedNodes]);
    added.filter(node => node.nodeName === "LI").forEach(explain);
  }).observe(results, {childList: true, subtree: true});
}

function places(link, sought) {
  const [page, id] = link.getAttribute("href").split("#");
  const isSection = link.textContent.includes(" > ");
  return SECTIONS.filter(section => section[0] === page && (!isSection || section[1] === id))
    .map(([page, id, heading, text]) => [`${page}#${id}`, heading, text.match(sought)])
    .filter(([address, heading, found]) => found)
    .slice(0, 3)
    .map(([address, heading, found]) => place(address, heading, found));
}

function place(address, heading, found) {
  const line = document.createElement("p");
  const link = line.appendChild(document.createElement("a"));
  link.href = address;
  link.textContent = heading;
  const mark = document.createElement("mark");
  mark.textContent = found[0];
  const before = found.input.slice(0, found.index).match(/(\S+\s+){0,12}\S*$/)[0];
  const after = found.input.slice(found.index + mark.textContent.length);
  line.append(": … ", before, mark, after.match(/^\S*(\s+\S+){0,12}/)[0], " …");
  return line;
}
