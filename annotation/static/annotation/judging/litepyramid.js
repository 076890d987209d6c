// The LitePyramid page.
import { answerKeys } from "./answer_keys.js";
import { startEngine } from "./engine.js";
import { Evidence } from "./evidence.js";
import { Keyboard } from "./keyboard.js";
import { Overlap } from "./overlap.js";
import { run } from "./running.js";
import { tools } from "./tools.js";

export function start(root) {
  const engine = startEngine(root);
  const questions = [...root.querySelectorAll(".items [data-field]")];
  const keyboard = new Keyboard(engine, questions);
  answerKeys(keyboard);
  const text = root.querySelector("[data-words]");
  if (text && !engine.preview) {
    const evidence = new Evidence(engine, text, questions, keyboard);
    keyboard.keys.e = () => evidence.enter();
  }
  const toggle = root.querySelector("[data-overlap]");
  const statement = (question) => question?.querySelector(".statement") ?? null;
  if (toggle) new Overlap(engine, root.querySelector("#summary-text")).offer(engine, keyboard, toggle, statement);
  tools(engine);
  return engine;
}

run(start);
