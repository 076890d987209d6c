// Time and attention, as the consent text tells: gaps count for at most a minute, a hidden tab not at all.
const CAP = 60_000;
const SIGNS = ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "input", "focusin", "touchmove"];

export class Attention {
  constructor(signal) {
    this.load = Array.from(crypto.getRandomValues(new Uint8Array(6)), (n) => n.toString(16).padStart(2, "0")).join("");
    this.milliseconds = 0;
    this.items = new Map();
    this.current = null;
    this.focusLost = 0;
    this.pastes = 0;
    this.last = document.hidden ? null : Date.now();
    this.lastSign = Date.now();
    for (const sign of SIGNS) document.addEventListener(sign, () => this.sign(), { passive: true, capture: true, signal });
    document.addEventListener("visibilitychange", () => (document.hidden ? this.pause() : this.resume()), { signal });
    window.addEventListener("blur", () => (this.focusLost += 1), { signal });
    document.addEventListener("paste", () => (this.pastes += 1), { signal });
  }

  get active() {
    return Math.round(this.milliseconds / 1000);
  }

  idle() {
    return Date.now() - this.lastSign;
  }

  sign() {
    this.lastSign = Date.now();
    this.count();
  }

  count() {
    const now = Date.now();
    if (this.last !== null) {
      const spent = Math.min(Math.max(0, now - this.last), CAP);
      this.milliseconds += spent;
      if (this.current) this.item(this.current).milliseconds += spent;
    }
    if (!document.hidden && !this.isHalted) this.last = now;
  }

  pause() {
    this.count();
    this.last = null;
  }

  resume() {
    if (!this.isHalted) this.last = Date.now();
  }

  // A pause that the annotator asked for: nothing counts until it ends.
  halt(isHalted) {
    this.isHalted = isHalted;
    if (isHalted) this.pause();
    else this.resume();
  }

  item(field) {
    if (!this.items.has(field)) this.items.set(field, { milliseconds: 0, changes: 0 });
    return this.items.get(field);
  }

  // The item one is at now: time goes to it until the next.
  at(field) {
    if (field === this.current) return;
    this.count();
    this.current = field;
  }

  changed(field) {
    this.count();
    this.item(field).changes += 1;
  }

  totals() {
    const items = {};
    for (const [field, { milliseconds, changes }] of this.items) {
      items[field] = { seconds: Math.round(milliseconds / 100) / 10, changes };
    }
    const active = Math.round(this.milliseconds / 100) / 10;
    return { load: this.load, active, focus_lost: this.focusLost, pastes: this.pastes, items };
  }
}
