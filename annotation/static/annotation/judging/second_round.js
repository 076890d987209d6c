// The second round: confirm or change contested answers, with a remark. Drafts and submit are the engine's.
import { start } from "./engine.js";
import { folds } from "./folds.js";
import { help } from "./help.js";
import { Keyboard } from "./keyboard.js";

const engine = start();
const questions = [...document.querySelectorAll(".items [data-field]")];
const keyboard = new Keyboard(engine, questions);
const answer = (value) => (question) => Boolean(question) && keyboard.answer(question, value);
for (const radio of questions[0]?.querySelectorAll("input[type=radio]") ?? [])
  for (const key of [radio.value, radio.dataset.key]) keyboard.keys[key] = answer(radio.value);
Object.assign(keyboard.keys, {
  c: (question) => Boolean(question) && keyboard.answer(question, question.dataset.own),
  m: (question) => Boolean(question) && (question.querySelector("[data-remark]").focus(), true),
});

function mirror(question) {
  const input = question.querySelector("[data-remark]");
  if (input !== document.activeElement) input.value = engine.get(question.dataset.field)?.remark ?? "";
}

for (const question of questions) {
  const input = question.querySelector("[data-remark]");
  const { field } = question.dataset;
  let typing = false; // one stretch of typing is undone as one
  input.addEventListener("input", () => {
    engine.set(field, { value: "", ...engine.get(field), remark: input.value }, { undo: !typing });
    typing = true;
  });
  input.addEventListener("blur", () => (typing = false));
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" && event.key !== "Enter") return;
    event.preventDefault();
    keyboard.focus(question);
  });
  mirror(question);
}
engine.on("remote", () => questions.forEach(mirror));
help();
folds(engine);
if (questions.length) keyboard.focus(questions[0]);
