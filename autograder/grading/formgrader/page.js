// What nbgrader's pages do in attributes and with MathJax, which their policy blocks. Formulas are
// MathML already, so anything that waits for MathJax can go on at once.
var MathJax = {Hub: {Startup: {signal: {Interest: function (tell) { tell("End"); }}}}};
var CALLS = {
  toggle_name: function (on) { toggle_name(on); },
  toggleAllNames: function () { toggleAllNames(); },
  createAssignmentModal: function () { createAssignmentModal(); },
  createStudentModal: function () { createStudentModal(); }
};
document.addEventListener("click", function (event) {
  var clicked = event.target.closest("[data-call]");
  if (clicked) CALLS[clicked.dataset.call](clicked.dataset.value === "true");
});
// Call `more` with each row or box of one of nbgrader's views once it is drawn.
function afterwards(view, method, more) {
  if (!window[view]) return;
  const theirs = window[view].prototype[method];
  window[view].prototype[method] = function () {
    theirs.apply(this, arguments);
    more(this);
  };
}
// nbgrader's hint promises Markdown; feedback shows comments as they are written.
afterwards("CommentUI", "initialize", function (box) {
  const hint = "Comment for the learner, shown as you write it";
  box.$comment.attr("placeholder", box.model.get("auto_comment") || hint);
});
// A 0 where nothing was graded looks like a grade.
afterwards("StudentSubmissionUI", "render", function (row) {
  if (row.model.get("autograded")) return;
  const state = row.model.get("submitted") ? "not graded yet" : "not handed in";
  row.$name.text(row.model.get("name") + " (" + state + ")");
  row.$el.find("td[class*='score']").text("–");
});
// "Draft" is what nbgrader calls everything that is not in its exchange.
afterwards("AssignmentUI", "render", function (row) {
  const released = row.model.get("release_path") && !row.model.get("releaseable");
  if (released && row.$status) row.$status.find(".label").text("in notebooks/");
});
document.addEventListener("DOMContentLoaded", function () {
  const warning = document.getElementById("warning-exchange");
  if (!warning) return;
  warning.className = "help-block";
  warning.textContent = "Release and Collect need nbgrader's exchange, as on a JupyterHub. " +
    "docs/instructors.md says how to hand out and collect without one.";
});
