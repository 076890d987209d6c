// One box chooses everybody on the page; it is hidden without script, and so never in vain.

for (const form of document.querySelectorAll("form[data-select-all]")) {
  const all = form.querySelector("[data-all]");
  const boxes = [...form.querySelectorAll("input[name=worker]")];
  all.hidden = false;
  all.addEventListener("change", () => boxes.forEach((box) => (box.checked = all.checked)));
  form.addEventListener("change", () => (all.checked = boxes.every((box) => box.checked)));
}
