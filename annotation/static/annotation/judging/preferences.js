// What an annotator has chosen for all tasks: keys for answers, the size of texts. Kept with the person on the server, and
// on this device for the next study.
const NAME = "pyramidion:preferences";
const SIZES = [1, 1.125, 1.25, 1.5];

export class Preferences {
  constructor(engine) {
    this.engine = engine;
    const preferences = engine.config.preferences ?? {};
    this.values = Object.keys(preferences).length ? preferences : stored();
    this.show();
    const sizes = engine.root.querySelectorAll("[data-size]");
    for (const button of sizes) {
      button.hidden = false;
      button.addEventListener("click", () => this.resize(Number(button.dataset.size)));
    }
  }

  keysOf(protocol) {
    return this.values.keys?.[protocol] ?? {};
  }

  setKeys(protocol, keys) {
    this.change({ keys: { ...this.values.keys, [protocol]: keys } });
  }

  get size() {
    return SIZES.includes(this.values.size) ? this.values.size : SIZES[0];
  }

  resize(by) {
    const place = SIZES.indexOf(this.size) + by;
    this.change({ size: SIZES[Math.min(SIZES.length - 1, Math.max(0, place))] });
    this.show();
  }

  show() {
    document.documentElement.style.setProperty("--reading", this.size);
  }

  change(news) {
    this.values = { ...this.values, ...news };
    try {
      localStorage.setItem(NAME, JSON.stringify(this.values));
    } catch {
      // Only on the server, then.
    }
    this.isNew = true;
    this.engine.soon();
  }
}

function stored() {
  try {
    return JSON.parse(localStorage.getItem(NAME)) ?? {};
  } catch {
    return {};
  }
}
