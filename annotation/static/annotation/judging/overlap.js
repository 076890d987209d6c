// Lights up the words of a text that another one has too: words of four letters or more, and numbers.
const WORD = /\p{L}{4,}|\p{N}+/gu;
const NAME = "shared";

export class Overlap {
  constructor(engine, text) {
    this.text = text;
    this.isOn = false;
    this.source = null;
    engine.signal.addEventListener("abort", () => CSS.highlights?.delete(NAME));
  }

  // The button that switches it, and its key. `sourceOf(question)` has the words to look for.
  offer(engine, keyboard, button, sourceOf) {
    if (!CSS.highlights) return; // an old browser: the page works without
    button.hidden = false;
    button.addEventListener("click", () => {
      this.isOn = !this.isOn;
      button.setAttribute("aria-pressed", String(this.isOn));
      if (button.dataset.overlap) engine.aids[button.dataset.overlap] = this.isOn; // stands with the answers from now on
      this.follow(sourceOf(keyboard.current));
    });
    engine.on("active", (question) => this.follow(sourceOf(question)));
    keyboard.keys.o = () => (button.click(), true);
  }

  follow(source) {
    this.source = source;
    this.show();
  }

  show() {
    const words = this.isOn && this.source ? new Set(wordsOf(this.source.textContent)) : new Set();
    CSS.highlights?.set(NAME, new Highlight(...this.ranges(words)));
  }

  ranges(words) {
    const ranges = [];
    const walker = document.createTreeWalker(this.text, NodeFilter.SHOW_TEXT);
    while (words.size && walker.nextNode()) {
      for (const match of walker.currentNode.data.matchAll(WORD)) {
        if (!words.has(match[0].toLowerCase())) continue;
        const range = new StaticRange({
          startContainer: walker.currentNode,
          startOffset: match.index,
          endContainer: walker.currentNode,
          endOffset: match.index + match[0].length,
        });
        ranges.push(range);
      }
    }
    return ranges;
  }
}

function wordsOf(text) {
  return text.toLowerCase().match(WORD) ?? [];
}
