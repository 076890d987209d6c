// The list of SCUs in a draft: an entry for each SCU and one for their order, so that two devices at one list lose nothing
// to each other. `annotation/protocols/scu.py` reads them the same way.
import { identify, read } from "./units.js";

const UNIT = "unit:";
const ORDER = "unit-order";

export class DraftUnits {
  constructor(engine, field) {
    this.engine = engine;
    this.field = field;
    this.takeOver();
  }

  get status() {
    return this.engine.status;
  }

  get preview() {
    return this.engine.preview;
  }

  get signal() {
    return this.engine.signal;
  }

  // A draft of former times is one value. Every device gives its SCUs the same ids.
  takeOver() {
    if (this.entries().length) return;
    const units = read(this.engine.get(this.field)?.value ?? "").map((unit, n) => ({ ...unit, id: `d${n}` }));
    if (units.length) this.keep(units, { undo: false });
  }

  entries() {
    return [...this.engine.answers].filter(([field]) => field.startsWith(UNIT));
  }

  get order() {
    return this.engine.get(ORDER)?.value ?? "";
  }

  get units() {
    const ids = this.order.split(" ");
    const place = ({ id }) => (ids.includes(id) ? ids.indexOf(id) : ids.length);
    return this.entries()
      .filter(([, { value }]) => value !== null)
      .map(([field, { value, spans }]) => ({ id: field.slice(UNIT.length), text: value, spans: spans ?? [] }))
      .sort((a, b) => place(a) - place(b) || (a.id < b.id ? -1 : 1));
  }

  keep(list, options) {
    const units = identify(list);
    const before = new Map(this.units.map((unit) => [unit.id, unit]));
    const contents = {};
    for (const unit of units) {
      if (differs(unit, before.get(unit.id))) contents[UNIT + unit.id] = { value: unit.text, spans: unit.spans };
      before.delete(unit.id);
    }
    for (const id of before.keys()) contents[UNIT + id] = { value: null };
    const order = units.map(({ id }) => id).join(" ");
    if (order !== this.order) contents[ORDER] = { value: order };
    if (Object.keys(contents).length) this.engine.change(contents, options);
  }

  undo() {
    this.engine.undo();
  }

  // The list changed from elsewhere: another tab, another device, an undo.
  onRemote(listener) {
    this.engine.on("remote", (field) => (field === ORDER || field.startsWith(UNIT)) && listener());
  }
}

function differs(unit, other) {
  return !other || unit.text !== other.text || JSON.stringify(unit.spans) !== JSON.stringify(other.spans);
}
