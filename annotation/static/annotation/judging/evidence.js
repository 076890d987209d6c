// Evidence: the words of the summary that say a statement. It belongs to the statement just answered with Present, and is
// marked in a mode of its own: e or the statement's pencil begins it, Escape ends it. Outside of it the summary is only
// read. A mark is [first word, last word]; the server turns it into characters.
import { wordBeyond } from "./word_lines.js";

const PRESENT = "1";
const SENTENCE_END = /[.!?…。؟۔]["”’»)]*$/u;

export class Evidence {
  constructor(engine, text, questions, keyboard) {
    Object.assign(this, { engine, text, questions, keyboard });
    this.words = [...text.querySelectorAll("[data-w]")];
    this.question = null; // the statement whose words are being marked, while the mode is on
    this.anchor = null;
    this.cursor = 0;
    this.head = engine.root.querySelector("#marking");
    this.hint = engine.root.querySelector(".text-hint");
    this.head.querySelector("button").addEventListener("click", () => this.leave());
    text.addEventListener("pointerup", (event) => this.onPointer(event));
    text.addEventListener("keydown", (event) => this.onKey(event));
    document.addEventListener("keydown", (event) => this.onPageKey(event), { signal: engine.signal });
    for (const question of questions) this.follow(question);
    engine.on("active", (question) => this.onActive(question));
    engine.on("change", (field) => this.refresh(field));
    engine.on("remote", (field) => this.refresh(field));
    for (const question of questions) this.list(question);
  }

  follow(question) {
    const pencil = question.querySelector("[data-evidence]");
    pencil.hidden = false;
    pencil.addEventListener("click", () => this.start(question));
  }

  refresh(field) {
    const question = this.questions.find((question) => question.dataset.field === field);
    if (!question) return;
    this.list(question);
    if (question === this.question && this.keyboard.value(question) !== PRESENT) this.stop();
    this.show(this.question ?? this.keyboard.current);
  }

  marks(question) {
    const content = question && this.engine.get(question.dataset.field);
    return content?.value === PRESENT ? (content.evidence ?? []) : [];
  }

  said([first, last]) {
    return this.words.slice(first, last + 1).map((word) => word.textContent.trim()).join(" ");
  }

  show(question) {
    const marks = this.marks(question);
    this.words.forEach((word, n) => {
      word.classList.toggle("marked", marks.some(([first, last]) => first <= n && n <= last));
      word.classList.toggle("anchor", n === this.anchor);
    });
  }

  // The marks of a statement under it, each with a button that removes it.
  list(question) {
    question.querySelector(".marks").replaceChildren(...this.marks(question).map((mark) => this.chip(question, mark)));
  }

  chip(question, mark) {
    const chip = document.createElement("button");
    const words = this.said(mark);
    Object.assign(chip, { type: "button", className: "mark", dir: "auto", lang: this.text.lang });
    chip.textContent = words;
    chip.setAttribute("aria-label", this.engine.texts.evidenceRemove.replace("{words}", words));
    chip.addEventListener("click", () => this.remove(question, mark));
    return chip;
  }

  // The mode

  enter() {
    const question = this.keyboard.subject;
    if (question && this.keyboard.value(question) === PRESENT) this.start(question);
    else this.point();
    return true;
  }

  start(question) {
    const [first, last] = this.selected(); // words that were selected before are the first mark
    this.stop();
    this.cameFrom = this.keyboard.current;
    this.question = question;
    this.keyboard.isLocked = true;
    this.head.querySelector("b").textContent = question.querySelector(".statement").textContent.trim();
    this.head.parentElement.classList.add("marking");
    this.head.hidden = false;
    question.classList.add("marking");
    this.text.focus({ preventScroll: true });
    this.show(question);
    this.move(first ?? this.cursor);
    this.engine.status.say(this.engine.texts.evidenceChoose);
    if (first !== undefined) this.add(first, last);
  }

  stop() {
    if (!this.question) return;
    this.question.classList.remove("marking");
    this.head.parentElement.classList.remove("marking");
    this.head.hidden = true;
    this.words[this.cursor]?.classList.remove("cursor");
    this.question = this.anchor = null;
    this.keyboard.isLocked = false;
    this.show(this.keyboard.current);
  }

  leave() {
    const { cameFrom } = this;
    this.stop();
    if (cameFrom) this.keyboard.goTo(cameFrom);
  }

  onActive(question) {
    if (this.question && question !== this.question) this.stop();
    this.show(this.question ?? question);
  }

  // Outside of the mode nothing is marked: the line below the summary says how it is done.
  point() {
    this.hint.classList.add("pointed");
    this.engine.status.say(this.engine.texts.evidenceNotYet);
    this.engine.later(2000, () => this.hint.classList.remove("pointed"));
  }

  // Marks

  add(first, last) {
    const mark = [Math.min(first, last), Math.max(first, last)];
    const apart = this.marks(this.question).filter(([from, to]) => to < mark[0] || mark[1] < from);
    this.anchor = null;
    this.store(this.question, [...apart, mark].sort((a, b) => a[0] - b[0]));
    this.engine.status.say(this.engine.texts.evidenceAdded.replace("{words}", this.said(mark)));
  }

  remove(question, mark) {
    this.store(question, this.marks(question).filter((other) => String(other) !== String(mark)));
    this.engine.status.say(this.engine.texts.evidenceRemoved);
    if (!this.question) this.keyboard.focus(question);
  }

  store(question, evidence) {
    const { field } = question.dataset;
    this.engine.set(field, { ...this.engine.get(field), evidence });
  }

  // First word, then last word; the same word twice marks it alone.
  choose(place) {
    if (this.anchor !== null) return this.add(this.anchor, place);
    this.anchor = place;
    this.show(this.question);
    const word = this.words[place].textContent.trim();
    this.engine.status.say(this.engine.texts.evidenceFirst.replace("{word}", word));
  }

  // Pointer

  // The first and the last selected word; nothing where none is.
  selected() {
    const selection = getSelection();
    if (!selection || selection.isCollapsed || !this.text.contains(selection.anchorNode)) return [];
    const places = this.words.flatMap((word, n) => (selection.containsNode(word, true) ? [n] : []));
    if (this.question) selection.removeAllRanges();
    return places.length ? [places[0], places.at(-1)] : [];
  }

  onPointer(event) {
    const [first, last] = this.selected();
    if (!this.question) return first === undefined ? null : this.point();
    const word = event.target.closest("[data-w]");
    if (first !== undefined) this.add(first, last);
    else if (word) this.choose(Number(word.dataset.w));
  }

  // Keys

  move(to) {
    this.words[this.cursor]?.classList.remove("cursor");
    this.cursor = Math.min(this.words.length - 1, Math.max(0, to));
    const word = this.words[this.cursor];
    word.classList.add("cursor");
    word.scrollIntoView({ block: "nearest" });
    this.engine.status.say(word.textContent.trim());
  }

  // The first word of the next sentence, or of this one and then of those before.
  sentence(by) {
    const starts = this.words.flatMap((_, n) => (!n || SENTENCE_END.test(this.words[n - 1].textContent.trim()) ? [n] : []));
    if (by > 0) return starts.find((n) => n > this.cursor) ?? this.words.length - 1;
    return starts.findLast((n) => n < this.cursor) ?? 0;
  }

  target(event) {
    const forward = getComputedStyle(this.text).direction === "rtl" ? -1 : 1;
    const beside = (by) => (event.ctrlKey || event.altKey ? this.sentence(by) : this.cursor + by);
    return {
      ArrowRight: () => beside(forward),
      ArrowLeft: () => beside(-forward),
      ArrowDown: () => wordBeyond(this.words, this.cursor, 1),
      ArrowUp: () => wordBeyond(this.words, this.cursor, -1),
      Home: () => 0,
      End: () => this.words.length - 1,
    }[event.key]?.();
  }

  onKey(event) {
    if (!this.question || event.metaKey) return;
    const place = this.target(event);
    if (place !== undefined) this.move(place);
    else if ((event.key === "Enter" || event.key === " ") && !event.repeat) this.choose(this.cursor);
    else return;
    event.preventDefault();
  }

  onPageKey(event) {
    if (!this.question || event.key !== "Escape") return;
    event.preventDefault();
    this.leave();
  }
}
