// Finding words in the article: every place is marked, Enter goes to the next one.
export class Search {
  constructor(engine, article, { unfold, onShown }) {
    Object.assign(this, { engine, article, unfold, onShown });
    this.field = engine.root.querySelector("#search");
    this.count = engine.root.querySelector("#search-count");
    this.sentences = [...article.querySelectorAll(".sentence")].map((place) => ({ place, text: place.textContent }));
    this.marks = [];
    this.here = -1;
    this.field.closest("[hidden]")?.removeAttribute("hidden");
    this.field.addEventListener("input", () => this.find());
    this.field.addEventListener("keydown", (event) => this.onKey(event));
  }

  open() {
    this.unfold();
    this.field.focus();
    this.field.select();
    return true;
  }

  onKey(event) {
    if (event.key === "Enter") {
      event.preventDefault();
      this.go(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      this.field.value = "";
      this.find();
      this.field.blur();
      this.engine.root.querySelector(".item.active input")?.focus();
    }
  }

  find() {
    const words = this.field.value.trim().toLowerCase();
    for (const { place, text } of this.sentences) place.replaceChildren(...this.pieces(text, words));
    this.marks = [...this.article.querySelectorAll("mark")];
    this.onShown();
    this.here = -1;
    if (words) this.unfold();
    this.go(1, Boolean(words));
  }

  pieces(text, words) {
    const low = text.toLowerCase();
    if (!words || low.length !== text.length) return [text]; // some letters change length when lowered
    const pieces = [];
    let from = 0;
    for (let at = low.indexOf(words); at >= 0; at = low.indexOf(words, from)) {
      const mark = document.createElement("mark");
      mark.textContent = text.slice(at, at + words.length);
      pieces.push(text.slice(from, at), mark);
      from = at + words.length;
    }
    return [...pieces, text.slice(from)];
  }

  go(by, searched = true) {
    const { progress, searchNone } = this.engine.texts;
    this.marks[this.here]?.classList.remove("here");
    if (!this.marks.length) {
      this.count.textContent = searched && this.field.value.trim() ? searchNone : "";
      return;
    }
    this.here = (this.here + by + this.marks.length) % this.marks.length;
    this.marks[this.here].classList.add("here");
    this.marks[this.here].scrollIntoView({ block: "nearest" });
    this.count.textContent = progress.replace("{n}", this.here + 1).replace("{all}", this.marks.length);
  }
}
