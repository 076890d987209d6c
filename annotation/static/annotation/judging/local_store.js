// Keeps changes on this device: they outlive a reload, a crash, a dead battery. A change that the server has got stays
// too, with the version it became there, until a page is loaded that has that version. Tabs share it, field by field.
const PREFIX = "pyramidion:";
const LONGEST = 30 * 24 * 60 * 60 * 1000; // ms that a task nobody came back to is kept

export class LocalStore {
  constructor(name) {
    this.name = name && PREFIX + name;
    this.state = empty();
    this.isShared = Boolean(name) && this.load();
    if (this.isShared) sweep();
  }

  // Private windows and frames of another site may refuse storage: then this tab's memory is all there is.
  load() {
    try {
      this.state = { ...empty(), ...JSON.parse(localStorage.getItem(this.name)) };
      return true;
    } catch {
      return false;
    }
  }

  update(change) {
    if (this.isShared) this.load(); // another tab may have written meanwhile
    change(this.state);
    if (!this.isShared) return;
    try {
      if (Object.keys(this.state.changes).length || this.state.submit) {
        localStorage.setItem(this.name, JSON.stringify(this.state));
      } else {
        localStorage.removeItem(this.name);
      }
    } catch {
      this.isShared = false; // full, or taken away: kept in memory
    }
  }

  get changes() {
    return this.state.changes;
  }

  get submit() {
    return this.state.submit;
  }

  // What the server doesn't have yet, by field.
  get unsaved() {
    if (this.isShared) this.load();
    return Object.entries(this.state.changes).filter(([field]) => !(field in this.state.saved));
  }

  get isEmpty() {
    return !Object.keys(this.state.changes).length;
  }

  waiting() {
    return this.unsaved.length > 0;
  }

  keep(field, content) {
    this.update(({ changes, saved }) => {
      changes[field] = content;
      delete saved[field];
    });
  }

  // The server has this change as of a version; a newer change of the same field still waits.
  markSaved(sent, version) {
    this.update(({ changes, saved }) => {
      for (const { field, at } of sent) if (changes[field]?.at === at) saved[field] = version;
    });
  }

  // A page with this version was loaded: it shows what was saved up to there.
  settle(version) {
    this.update(({ changes, saved }) => {
      for (const [field, savedIn] of Object.entries(saved)) {
        if (savedIn > version) continue;
        delete changes[field];
        delete saved[field];
      }
    });
  }

  drop(field, at) {
    this.update(({ changes, saved }) => {
      if (changes[field]?.at !== at) return;
      delete changes[field];
      delete saved[field];
    });
  }

  sending(submitKey) {
    this.update((state) => (state.submit = submitKey));
  }

  forget() {
    this.update((state) => Object.assign(state, empty()));
  }
}

function empty() {
  return { changes: {}, saved: {}, submit: null };
}

// Tasks that were given up, or handed in elsewhere, don't stay here for ever.
function sweep() {
  for (const name of Object.keys(localStorage).filter((name) => name.startsWith(PREFIX))) {
    try {
      const { changes = {} } = JSON.parse(localStorage.getItem(name));
      const times = Object.values(changes).map(({ at }) => at);
      if (times.length && Math.max(...times) < Date.now() - LONGEST) localStorage.removeItem(name);
    } catch {
      // Not one of ours.
    }
  }
}
