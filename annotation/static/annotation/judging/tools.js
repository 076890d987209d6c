// What every task page has around its questions: help, folding a text, flags, a pause, giving back; and the space that
// what sticks to the edges of the window takes from them.
import { flags } from "./flag.js";

export function tools(engine) {
  dialogButton(engine, "help");
  folds(engine);
  flags(engine);
  pause(engine);
  giveBack(engine);
  more(engine);
  keepClear(engine);
}

// A dialog is opened by its button, and closed by Escape or its own buttons.
function dialogButton({ root }, name) {
  const dialog = root.querySelector(`#${name}`);
  const button = root.querySelector(`[data-${name}]`);
  if (!dialog || !button) return null;
  button.hidden = false;
  button.addEventListener("click", () => dialog.showModal());
  return { dialog, button };
}

function folds(engine) {
  for (const button of engine.root.querySelectorAll("[data-fold]")) {
    button.hidden = false;
    button.addEventListener("click", () => fold(engine, button));
  }
}

// Folds a text away, or brings it back; the question one is at stays where it is in the window.
export function fold(engine, button, isFolded = button.getAttribute("aria-pressed") !== "true") {
  const item = engine.root.querySelector(".item.active");
  const before = item?.getBoundingClientRect().top;
  engine.root.querySelector(`#${button.dataset.fold}`).classList.toggle("folded", isFolded);
  button.setAttribute("aria-pressed", String(isFolded));
  if (item && document.activeElement?.closest(".item")) window.scrollBy(0, item.getBoundingClientRect().top - before);
}

// While it is paused no time counts, and nothing can be answered.
function pause(engine) {
  const parts = engine.preview ? null : dialogButton(engine, "pause");
  parts?.button.addEventListener("click", () => engine.attention.halt(true));
  parts?.dialog.addEventListener("close", () => engine.attention.halt(false));
}

// A task that was given back doesn't come again: with answers in it, the page asks once more.
function giveBack({ root, answers }) {
  const form = root.querySelector("#release");
  const dialog = root.querySelector("#give-back");
  if (!form || !dialog) return;
  form.addEventListener("submit", (event) => {
    if (!answers.size || dialog.open) return;
    event.preventDefault();
    dialog.showModal();
  });
}

// On a narrow page the less used of the links at the foot are behind a button.
function more({ root }) {
  const button = root.querySelector("[data-more]");
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    button.setAttribute("aria-expanded", String(button.getAttribute("aria-expanded") !== "true"));
  });
}

// The style sheet keeps questions clear of the foot and of a text on top, whatever their size is just now. A banner that
// comes into the foot moves the active question out from under it.
function keepClear({ root, signal }) {
  const foot = root.querySelector(".status");
  const text = [...root.querySelectorAll(".work > .text")].find((element) => element.offsetParent);
  let isFirst = true;
  const measure = () => {
    const isOnTop = matchMedia("(max-width: 760px)").matches;
    root.style.setProperty("--foot", `${size(foot)}px`);
    root.style.setProperty("--head", `${isOnTop ? size(text) : 0}px`);
    if (!isFirst) uncover(root, foot);
    isFirst = false;
  };
  const observer = new ResizeObserver(measure);
  for (const element of [foot, text]) if (element) observer.observe(element);
  signal.addEventListener("abort", () => observer.disconnect());
  window.addEventListener("resize", measure, { signal });
}

function uncover(root, foot) {
  const item = root.querySelector(".item.active");
  if (!item || !size(foot)) return;
  const box = item.getBoundingClientRect();
  const edge = foot.getBoundingClientRect().top;
  if (box.top < window.innerHeight && box.bottom > edge) item.scrollIntoView({ block: "nearest" });
}

function size(element) {
  return element && getComputedStyle(element).position === "sticky" ? element.offsetHeight : 0;
}
