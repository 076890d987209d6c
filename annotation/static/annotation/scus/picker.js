// Selecting words of a text: by mouse, by touch, or with the keyboard (a roving focus over the words).
// Arrows move, with Shift they extend, Space takes or leaves a word, s takes the sentence, Escape clears.
import { wordBeyond } from "../judging/word_lines.js";

export class Picker {
  constructor(box, { onChange, onEnter, signal }) {
    this.box = box;
    this.words = [...box.querySelectorAll("[data-start]")];
    this.chosen = new Set();
    this.anchor = 0;
    this.cursor = 0;
    this.onChange = onChange;
    this.onEnter = onEnter;
    this.words.forEach((word, place) => (word.tabIndex = place ? -1 : 0));
    box.addEventListener("keydown", (event) => this.onKey(event));
    box.addEventListener("pointerdown", (event) => this.onDown(event));
    box.addEventListener("pointermove", (event) => this.onMove(event));
    box.addEventListener("dblclick", () => this.sentence());
    for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, (event) => this.onUp(event), { signal });
  }

  // Runs of chosen words as [start, end) in the text; words side by side make one run.
  spans() {
    const places = [...this.chosen].sort((a, b) => a - b);
    const runs = [];
    for (const place of places) {
      const { start, end } = this.words[place].dataset;
      const last = runs.at(-1);
      const beside = last && last.place === place - 1 && this.sameSentence(place - 1, place);
      if (beside) Object.assign(last, { place, end: Number(end) });
      else runs.push({ place, start: Number(start), end: Number(end) });
    }
    return runs.map(({ start, end }) => [start, end]);
  }

  sameSentence(one, other) {
    return this.words[one].parentElement === this.words[other].parentElement;
  }

  choose(places) {
    this.chosen = new Set(places);
    this.words.forEach((word, place) => word.setAttribute("aria-selected", String(this.chosen.has(place))));
    this.onChange(this.chosen.size);
  }

  clear() {
    this.choose([]);
  }

  range(one, other) {
    const [low, high] = one < other ? [one, other] : [other, one];
    return Array.from({ length: high - low + 1 }, (_, step) => low + step);
  }

  sentence() {
    const home = this.words[this.cursor].parentElement;
    this.choose(this.words.flatMap((word, place) => (word.parentElement === home ? [place] : [])));
  }

  focus(place = this.cursor) {
    this.words[this.cursor].tabIndex = -1;
    this.cursor = Math.min(this.words.length - 1, Math.max(0, place));
    this.words[this.cursor].tabIndex = 0;
    this.words[this.cursor].focus({ preventScroll: false });
  }

  toggle(place) {
    const places = new Set(this.chosen);
    if (!places.delete(place)) places.add(place);
    this.anchor = place;
    this.choose(places);
  }

  target(key) {
    const rtl = getComputedStyle(this.words[this.cursor]).direction === "rtl" ? -1 : 1;
    const home = this.words[this.cursor].parentElement;
    const inBox = this.words.flatMap((word, place) => (word.parentElement === home ? [place] : []));
    return {
      ArrowRight: () => this.cursor + rtl,
      ArrowLeft: () => this.cursor - rtl,
      ArrowDown: () => wordBeyond(this.words, this.cursor, 1),
      ArrowUp: () => wordBeyond(this.words, this.cursor, -1),
      Home: () => inBox[0],
      End: () => inBox.at(-1),
    }[key]?.();
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const place = this.target(event.key);
    if (place !== undefined) {
      if (!event.shiftKey) this.anchor = Math.min(this.words.length - 1, Math.max(0, place));
      this.focus(place);
      if (event.shiftKey) this.choose(this.range(this.anchor, this.cursor));
    } else if (event.key === " ") this.toggle(this.cursor);
    else if (event.key === "s") this.sentence();
    else if (event.key === "Escape") this.clear();
    else if (event.key === "Enter") this.onEnter();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  at(event) {
    const word = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-start]");
    return word ? this.words.indexOf(word) : -1;
  }

  onDown(event) {
    const place = this.at(event);
    if (place < 0 || event.button) return;
    if (event.pointerType === "mouse") event.preventDefault(); // no blue selection beside ours
    const keep = event.ctrlKey || event.metaKey || event.pointerType !== "mouse";
    this.drag = { from: event.shiftKey ? this.anchor : place, before: keep ? [...this.chosen] : [], moved: event.shiftKey };
    this.focus(place);
    if (event.shiftKey) this.choose([...this.drag.before, ...this.range(this.drag.from, place)]);
  }

  onMove(event) {
    if (!this.drag) return;
    const place = this.at(event);
    if (place < 0 || (place === this.drag.from && !this.drag.moved)) return;
    this.drag.moved = true;
    this.choose([...this.drag.before, ...this.range(this.drag.from, place)]);
  }

  onUp(event) {
    if (!this.drag) return;
    const { from, moved } = this.drag;
    this.drag = null;
    if (!moved && event.type === "pointerup") this.toggle(from);
    else this.anchor = from;
  }
}
