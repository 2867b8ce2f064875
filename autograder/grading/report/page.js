// A click on a column's heading sorts the learners by it; another click reverses the order.
for (const button of document.querySelectorAll(".by-learner th button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), table = head.closest("table"), body = table.tBodies[0];
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = (row) => row.cells[head.cellIndex].dataset.value;
    const compare = (a, b) => head.dataset.kind === "number" ? a - b : a.localeCompare(b);
    const rows = [...body.rows].sort((a, b) => compare(value(a), value(b)) * (down ? -1 : 1));
    body.append(...rows);
  });
}
// Nothing can be opened on paper.
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
