// Selecting words side by side: a drag, a click, Shift with arrows; by finger or Space the first and the last word.
import { Picker } from "../scus/picker.js";

export class RangePicker extends Picker {
  constructor(box, options) {
    asListbox(box);
    super(box, options);
  }

  // The words between the outermost ones belong to them.
  choose(places) {
    const sorted = [...places].sort((a, b) => a - b);
    super.choose(sorted.length ? this.range(sorted[0], sorted.at(-1)) : []);
  }

  toggle(place) {
    const places = [...this.chosen].sort((a, b) => a - b);
    const [first, last] = [places[0], places.at(-1)];
    const isInside = places.length && place >= first && place <= last;
    this.anchor = place;
    if (places.length === 1 && place === first) this.clear();
    else if (!places.length || isInside || this.byMouse) this.choose([place]);
    else this.choose([...places, place]);
  }

  onDown(event) {
    this.byMouse = event.pointerType === "mouse";
    super.onDown(event);
  }

  onKey(event) {
    this.byMouse = false;
    super.onKey(event);
  }

  // [start, end) of what is selected, in the characters of the text; null without a selection.
  get span() {
    const [span] = this.spans().slice(0, 1);
    return span ? [span[0], this.spans().at(-1)[1]] : null;
  }

  // What stands at a span, as it reads.
  said([start, end]) {
    const words = this.words.filter((word) => Number(word.dataset.start) < end && Number(word.dataset.end) > start);
    return words.map((word) => word.textContent).join(" ");
  }
}

function asListbox(box) {
  box.setAttribute("role", "listbox");
  box.setAttribute("aria-multiselectable", "true");
  for (const line of box.children) line.setAttribute("role", "group");
  for (const word of box.querySelectorAll("[data-start]")) {
    word.setAttribute("role", "option");
    word.setAttribute("aria-selected", "false");
  }
}
