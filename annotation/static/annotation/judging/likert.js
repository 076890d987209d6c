// The Likert page: the article on one side, summaries as cards on the other.
import { start } from "./engine.js";
import { fold, folds } from "./folds.js";
import { help } from "./help.js";
import { Keyboard } from "./keyboard.js";
import { Overlap } from "./overlap.js";
import { Search } from "./search.js";

const engine = start();
const cards = [...document.querySelectorAll("[data-card]")];
const questions = [...document.querySelectorAll("[data-card] [data-field]")];
const keyboard = new Keyboard(engine, questions);
const definition = document.getElementById("definition");
const article = document.getElementById("article");
const overlap = document.querySelector("[data-overlap]") ? new Overlap(article) : null;

for (const value of document.getElementById("task").dataset.scale.split(" ")) {
  keyboard.keys[value] = (question) => Boolean(question) && keyboard.answer(question, value);
}
keyboard.keys["]"] = () => toCard(1);
keyboard.keys["["] = () => toCard(-1);

function toCard(by) {
  const here = cards.indexOf(keyboard.current?.closest("[data-card]"));
  const card = cards[Math.min(cards.length - 1, Math.max(0, here + by))];
  keyboard.focus(card.querySelector("[data-field]"));
  return true;
}

// The definition of the dimension one is at stands in one place, so that nothing keyboard.
function define(question) {
  definition.querySelector("b").textContent = `${question.dataset.title}:`;
  definition.querySelector("span").textContent = question.dataset.definition;
  cut();
}

// A narrow page has room for three lines of it; a tap shows the rest, and takes it back.
function cut() {
  definition.classList.remove("cut", "whole");
  definition.classList.toggle("cut", definition.scrollHeight > definition.clientHeight + 1);
}

definition.addEventListener("click", () => definition.classList.contains("cut") && definition.classList.toggle("whole"));
window.addEventListener("resize", cut);
cut();

function dots() {
  for (const card of cards) {
    const complete = [...card.querySelectorAll("[data-field]")].every((question) => keyboard.value(question));
    const dot = document.querySelector(`[data-dot="${card.id}"]`);
    dot.classList.toggle("complete", complete);
    dot.querySelector(".visually-hidden").textContent = complete ? engine.texts.complete : engine.texts.open;
  }
}

engine.on("active", (question) => {
  const card = question.closest("[data-card]");
  for (const other of cards) other.classList.toggle("active", other === card);
  define(question);
  overlap?.follow(card);
});
engine.on("change", dots);
engine.on("remote", dots);
dots();

for (const dot of document.querySelectorAll("[data-dot]")) {
  dot.addEventListener("click", (event) => {
    event.preventDefault();
    keyboard.focus(document.getElementById(dot.dataset.dot).querySelector("[data-field]"));
  });
}

const foldButton = document.querySelector("[data-fold=article]");
const search = new Search(engine, article, () => fold(foldButton, article, engine, false));
keyboard.keys["/"] = () => search.open();
keyboard.keys.f = () => (foldButton.click(), true);
if (overlap) {
  const toggle = document.querySelector("[data-overlap]");
  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    toggle.setAttribute("aria-pressed", String(overlap.toggle(keyboard.current?.closest("[data-card]") ?? cards[0])));
  });
  keyboard.keys.o = () => (toggle.click(), true);
}
help();
folds(engine);
