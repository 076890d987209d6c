// Evidence: the words of the summary that say it. Drag over them, tap the first and the last, or use the keyboard (e).
// A mark is [first word, last word]; the server turns it into characters.
export class Evidence {
  constructor(engine, text, questions, keyboard) {
    Object.assign(this, { engine, text, questions, keyboard });
    this.words = [...text.querySelectorAll("[data-w]")];
    this.question = null;
    this.anchor = null;
    this.cursor = 0;
    text.addEventListener("pointerup", (event) => this.onPointer(event));
    text.addEventListener("keydown", (event) => this.onKey(event));
    text.addEventListener("focusout", () => this.words[this.cursor]?.classList.remove("cursor"));
    engine.on("active", (question) => this.show(question));
    engine.on("remote", () => this.refresh());
    this.refresh();
  }

  refresh() {
    for (const question of this.questions) this.list(question);
    if (this.question) this.show(this.question);
  }

  marks(question) {
    return this.engine.get(question.dataset.field)?.evidence ?? [];
  }

  said([first, last]) {
    return this.words.slice(first, last + 1).map((word) => word.textContent.trim()).join(" ");
  }

  show(question) {
    if (question !== this.question) this.anchor = null;
    this.question = question;
    const marks = this.marks(question);
    this.words.forEach((word, n) => {
      word.classList.toggle("marked", marks.some(([first, last]) => first <= n && n <= last));
      word.classList.toggle("anchor", n === this.anchor);
    });
  }

  // The marks of a question under its statement, each with a button that removes it.
  list(question) {
    const place = question.querySelector(".marks");
    place.replaceChildren(...this.marks(question).map((mark) => this.chip(question, mark)));
  }

  chip(question, mark) {
    const chip = document.createElement("button");
    const words = this.said(mark);
    Object.assign(chip, { type: "button", className: "mark", dir: "auto" });
    chip.textContent = words;
    chip.setAttribute("aria-label", this.engine.texts.evidenceRemove.replace("{words}", words));
    chip.addEventListener("click", () => this.remove(question, mark));
    return chip;
  }

  add(first, last) {
    const question = this.question;
    if (!question) return;
    const mark = [Math.min(first, last), Math.max(first, last)];
    const apart = this.marks(question).filter(([from, to]) => to < mark[0] || mark[1] < from);
    this.store(question, [...apart, mark].sort((a, b) => a[0] - b[0]), "1");
    this.engine.status.say(this.engine.texts.evidenceAdded.replace("{words}", this.said(mark)));
  }

  remove(question, mark) {
    this.store(question, this.marks(question).filter((other) => String(other) !== String(mark)));
    this.engine.status.say(this.engine.texts.evidenceRemoved);
    this.keyboard.focus(question);
  }

  store(question, evidence, value) {
    const { field } = question.dataset;
    const before = this.engine.get(field);
    this.engine.set(field, { ...before, value: value ?? before?.value ?? "", evidence });
    this.keyboard.mirror(field, this.engine.get(field));
    this.anchor = null;
    this.list(question);
    this.show(question);
  }

  place(node) {
    const word = (node?.nodeType === Node.TEXT_NODE ? node.parentElement : node)?.closest?.("[data-w]");
    return word ? Number(word.dataset.w) : -1;
  }

  onPointer(event) {
    if (!this.question) return;
    const selection = getSelection();
    if (selection && !selection.isCollapsed && this.text.contains(selection.anchorNode)) {
      const places = this.words.map((word, n) => (selection.containsNode(word, true) ? n : -1)).filter((n) => n >= 0);
      selection.removeAllRanges();
      if (places.length) this.add(places[0], places.at(-1));
      return;
    }
    const place = this.place(event.target);
    if (place >= 0) this.choose(place);
  }

  // First word, then last word; the same word twice marks it alone.
  choose(place) {
    if (this.anchor === null) {
      this.anchor = place;
      this.show(this.question);
      const word = this.words[place].textContent.trim();
      this.engine.status.say(this.engine.texts.evidenceFirst.replace("{word}", word));
      return;
    }
    this.add(this.anchor, place);
  }

  enter(question) {
    this.show(question);
    this.text.focus();
    this.move(Math.min(this.cursor, this.words.length - 1));
    this.engine.status.say(this.engine.texts.evidenceChoose);
    return true;
  }

  move(to) {
    this.words[this.cursor]?.classList.remove("cursor");
    this.cursor = Math.min(this.words.length - 1, Math.max(0, to));
    const word = this.words[this.cursor];
    word.classList.add("cursor");
    word.scrollIntoView({ block: "nearest" });
    this.engine.status.say(word.textContent.trim());
  }

  onKey(event) {
    const forward = getComputedStyle(this.text).direction === "rtl" ? -1 : 1;
    const steps = { ArrowRight: forward, ArrowLeft: -forward, Home: -this.words.length, End: this.words.length };
    if (event.key in steps) this.move(this.cursor + steps[event.key]);
    else if (event.key === "Enter" || event.key === " ") this.pick();
    else if (event.key === "Escape") this.back();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  pick() {
    const second = this.anchor !== null;
    if (this.question) this.choose(this.cursor);
    if (second) this.back();
  }

  back() {
    this.anchor = null;
    if (this.question) this.keyboard.focus(this.question);
  }
}
