// Keys for practice questions: the letter or digit on a button chooses it. Enter sends the form, as everywhere.

const form = document.getElementById("practice");

function isTyping(target) {
  return target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.type !== "radio");
}

// The question that the focus is in; otherwise the first one without an answer.
function current() {
  const questions = [...form.querySelectorAll("[role=radiogroup]")];
  const focused = questions.find((question) => question.contains(document.activeElement));
  return focused ?? questions.find((question) => !question.querySelector("input:checked")) ?? questions[0];
}

function choose(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event.target)) return;
  const key = CSS.escape(event.key.toLowerCase());
  const input = current()?.querySelector(`input[data-key="${key}"]:not(:disabled)`);
  if (!input) return;
  event.preventDefault();
  input.checked = true;
  input.dispatchEvent(new Event("change", { bubbles: true }));
  const questions = [...form.querySelectorAll("[role=radiogroup]")];
  const next = questions[questions.indexOf(input.closest("[role=radiogroup]")) + 1];
  (next?.querySelector("input") ?? form.querySelector("button.main")).focus();
}

if (form) document.addEventListener("keydown", choose);
