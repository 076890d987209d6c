// The second round: confirm or change contested answers, with a remark. Drafts and submit are the engine's.
import { answerKeys } from "./answer_keys.js";
import { startEngine } from "./engine.js";
import { Keyboard } from "./keyboard.js";
import { run } from "./running.js";
import { tools } from "./tools.js";

export function start(root) {
  const engine = startEngine(root);
  const questions = [...root.querySelectorAll(".items [data-field]")];
  const keyboard = new Keyboard(engine, questions);
  answerKeys(keyboard);
  moreKeys(keyboard);
  for (const question of questions) follow(engine, keyboard, question);
  engine.on("remote", () => questions.forEach((question) => mirror(engine, question)));
  tools(engine);
  if (questions.length) keyboard.focus(questions[0]);
  return engine;
}

// A remark is about the answer just decided on, though the outline has gone on.
function moreKeys(keyboard) {
  keyboard.keys.c = () => Boolean(keyboard.current) && keyboard.answer(keyboard.current, keyboard.current.dataset.own);
  keyboard.keys.m = () => Boolean(keyboard.subject) && (remarkOf(keyboard.subject).focus(), true);
}

function remarkOf(question) {
  return question.querySelector("[data-remark]");
}

function mirror(engine, question) {
  const input = remarkOf(question);
  if (input !== document.activeElement) input.value = engine.get(question.dataset.field)?.remark ?? "";
}

function follow(engine, keyboard, question) {
  const input = remarkOf(question);
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
    if (keyboard.value(question)) keyboard.goOn(question);
    else keyboard.focus(question);
  });
  mirror(engine, question);
}

run(start);
