// The preference page: one question about two texts, with a reason where the batch asks for one.
import { answerKeys } from "../answer_keys.js";
import { startEngine } from "../engine.js";
import { Keyboard } from "../keyboard.js";
import { run } from "../running.js";
import { tools } from "../tools.js";

export function start(root) {
  const engine = startEngine(root);
  const question = root.querySelector(".items [data-field]");
  const keyboard = new Keyboard(engine, [question]);
  answerKeys(keyboard);
  const reason = question.querySelector("[data-reason]");
  if (reason && !engine.preview) follow(engine, keyboard, question, reason);
  for (const text of root.querySelectorAll("details[data-open-key]")) {
    keyboard.keys[text.dataset.openKey] = () => ((text.open = !text.open), true);
  }
  tools(engine);
  return engine;
}

function follow(engine, keyboard, question, input) {
  const { field } = question.dataset;
  const mirror = () => {
    if (input !== document.activeElement) input.value = engine.get(field)?.reason ?? "";
  };
  let typing = false; // one stretch of typing is undone as one
  input.addEventListener("input", () => {
    engine.set(field, { value: "", ...engine.get(field), reason: input.value }, { undo: !typing });
    typing = true;
  });
  input.addEventListener("blur", () => (typing = false));
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" && event.key !== "Enter") return;
    event.preventDefault();
    if (keyboard.value(question)) keyboard.goOn(question);
    else keyboard.focus(question);
  });
  keyboard.keys.m = () => (input.focus(), true);
  engine.on("remote", mirror);
  mirror();
}

run(start);
