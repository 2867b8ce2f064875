// Code that is wider than the page can be scrolled by keyboard, too.
addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("pre").forEach(code => { code.tabIndex = 0; });
});
