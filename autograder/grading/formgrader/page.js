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
// nbgrader's hint promises Markdown; feedback shows comments as they are written.
if (window.CommentUI) {
  const initialize = CommentUI.prototype.initialize;
  CommentUI.prototype.initialize = function () {
    initialize.apply(this, arguments);
    const hint = "Comment for the learner, shown as you write it";
    this.$comment.attr("placeholder", this.model.get("auto_comment") || hint);
  };
}
