// The second round: confirm or change contested answers, with a remark. Drafts and submit are the engine's.
import { start } from "./work/engine.js";
import { folds } from "./work/folds.js";
import { help } from "./work/help.js";
import { Moves } from "./work/moves.js";

const engine = start();
const questions = [...document.querySelectorAll(".items [data-field]")];
const moves = new Moves(engine, questions);
const answer = (value) => (question) => Boolean(question) && moves.answer(question, value);
for (const radio of questions[0]?.querySelectorAll("input[type=radio]") ?? [])
  for (const key of [radio.value, radio.dataset.key]) moves.keys[key] = answer(radio.value);
Object.assign(moves.keys, {
  c: (question) => Boolean(question) && moves.answer(question, question.dataset.own),
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
    moves.focus(question);
  });
  mirror(question);
}
engine.on("remote", () => questions.forEach(mirror));
help();
folds(engine);
if (questions.length) moves.focus(questions[0]);
