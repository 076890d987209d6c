// The LitePyramid page.
import { start } from "./engine.js";
import { Evidence } from "./evidence.js";
import { folds } from "./folds.js";
import { help } from "./help.js";
import { Keyboard } from "./keyboard.js";

const engine = start();
const questions = [...document.querySelectorAll(".items [data-field]")];
const keyboard = new Keyboard(engine, questions);
const answer = (value) => (question) => Boolean(question) && keyboard.answer(question, value);
Object.assign(keyboard.keys, { p: answer("1"), n: answer("0"), 1: answer("1"), 0: answer("0") });

const text = document.querySelector("[data-words]");
if (text && !engine.preview) {
  const evidence = new Evidence(engine, text, questions, keyboard);
  keyboard.keys.e = (question) => Boolean(question) && evidence.enter(question);
}
help();
folds(engine);
