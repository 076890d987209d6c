// Keeps changes on this device until the server has them: they outlive a reload, a crash, a dead battery.
export class LocalStore {
  constructor(name) {
    this.name = name && `pyramidion:${name}`;
    const stored = name ? this.read() : {};
    this.changes = stored.changes ?? {};
    this.submit = stored.submit ?? null;
  }

  // Private windows and frames of another site may refuse storage: then this tab's memory is all there is.
  read() {
    try {
      return JSON.parse(localStorage.getItem(this.name)) ?? {};
    } catch {
      return {};
    }
  }

  write() {
    try {
      if (this.waiting() || this.submit) {
        localStorage.setItem(this.name, JSON.stringify({ changes: this.changes, submit: this.submit }));
      } else {
        localStorage.removeItem(this.name);
      }
    } catch {
      // Kept in memory.
    }
  }

  waiting() {
    return Object.keys(this.changes).length > 0;
  }

  keep(field, content) {
    this.changes[field] = content;
    this.write();
  }

  // Only what the server has got is dropped: a newer change of the same item stays.
  drop(field, at) {
    if (this.changes[field]?.at === at) delete this.changes[field];
    this.write();
  }

  sending(submitKey) {
    this.submit = submitKey;
    this.write();
  }

  forget() {
    this.changes = {};
    this.submit = null;
    this.write();
  }
}
