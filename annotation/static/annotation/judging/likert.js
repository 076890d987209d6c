// The Likert page: the article on one side, summaries as cards on the other.
import { answerKeys } from "./answer_keys.js";
import { startEngine } from "./engine.js";
import { Keyboard } from "./keyboard.js";
import { Overlap } from "./overlap.js";
import { run } from "./running.js";
import { fold, tools } from "./tools.js";
import { Search } from "./search.js";

export function start(root) {
  const engine = startEngine(root);
  const keyboard = new Keyboard(engine, [...root.querySelectorAll("[data-card] [data-field]")]);
  answerKeys(keyboard);
  cards(engine, keyboard);
  definitions(engine);
  articleTools(engine, keyboard);
  tools(engine);
  return engine;
}

function cardsOf({ root }) {
  return [...root.querySelectorAll("[data-card]")];
}

function cards(engine, keyboard) {
  const all = cardsOf(engine);
  const toCard = (by) => {
    const here = all.indexOf(keyboard.current?.closest("[data-card]"));
    const card = all[Math.min(all.length - 1, Math.max(0, here + by))];
    keyboard.focus(card.querySelector("[data-field]"));
    return true;
  };
  Object.assign(keyboard.keys, { "]": () => toCard(1), "[": () => toCard(-1) });
  engine.on("active", (question) => {
    for (const card of all) card.classList.toggle("active", card.contains(question));
  });
  for (const card of all) follow(engine, keyboard, card);
  revealCards(keyboard);
}

// Going on to another card begins at its top, so that its text is read first; inside a card only what is asked moves.
function revealCards(keyboard) {
  const reveal = keyboard.reveal.bind(keyboard);
  let last = null;
  keyboard.reveal = (question) => {
    const card = question.closest("[data-card]");
    if (card !== last) card.scrollIntoView({ block: isWhole(card) ? "nearest" : "start" });
    else reveal(question);
    last = card;
  };
}

function isWhole(card) {
  return card.offsetHeight < 0.6 * window.innerHeight;
}

// The dot of a card says whether it is complete, and leads to it.
function follow(engine, keyboard, card) {
  const dot = engine.root.querySelector(`[data-dot="${card.id}"]`);
  const questions = [...card.querySelectorAll("[data-field]")];
  const show = () => {
    const complete = questions.every((question) => keyboard.value(question));
    dot.classList.toggle("complete", complete);
    dot.querySelector(".visually-hidden").textContent = complete ? engine.texts.complete : engine.texts.open;
  };
  engine.on("change", show);
  engine.on("remote", show);
  show();
  dot.addEventListener("click", (event) => {
    event.preventDefault();
    keyboard.focus(questions[0]);
  });
}

// The definition of the dimension one is at stands in one place, so that nothing moves.
function definitions(engine) {
  const definition = engine.root.querySelector("#definition");
  // A narrow page has room for three lines of it; a tap shows the rest, and takes it back.
  const cut = () => {
    definition.classList.remove("cut", "whole");
    definition.classList.toggle("cut", definition.scrollHeight > definition.clientHeight + 1);
  };
  engine.on("active", (question) => {
    definition.querySelector("b").textContent = `${question.dataset.title}:`;
    definition.querySelector("span").textContent = question.dataset.definition;
    cut();
  });
  definition.addEventListener("click", () => definition.classList.contains("cut") && definition.classList.toggle("whole"));
  window.addEventListener("resize", cut, { signal: engine.signal });
  cut();
}

function articleTools(engine, keyboard) {
  const { root } = engine;
  const article = root.querySelector("#article");
  const button = root.querySelector("[data-fold=article]");
  const overlap = new Overlap(engine, root.querySelector("#article-text"));
  const search = new Search(engine, article, {
    unfold: () => fold(engine, button, false),
    onShown: () => overlap.show(), // its words stand in new places
  });
  keyboard.keys["/"] = () => search.open();
  keyboard.keys.f = () => (button.click(), true);
  const toggle = root.querySelector("[data-overlap]");
  const textOf = (question) => (question?.closest("[data-card]") ?? cardsOf(engine)[0]).querySelector(".prose");
  if (toggle) overlap.offer(engine, keyboard, toggle, textOf);
}

run(start);
