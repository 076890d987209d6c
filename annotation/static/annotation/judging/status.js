// The status line at the foot, and the one banner above the task. Nothing else on the page moves for them.
export class StatusLine {
  constructor(root, config) {
    const place = (id) => root.querySelector(`#${id}`);
    this.texts = config.texts;
    this.urls = config.urls;
    this.save = place("save-state");
    this.time = place("active-time");
    this.hold = place("lease-time");
    this.count = place("progress");
    this.live = place("live");
    this.banner = place("work-banner");
    this.button = place("submit");
    this.until = config.secondsLeft === null ? null : Date.now() + config.secondsLeft * 1000;
    this.troubled = false;
  }

  show(text, kind) {
    if (!this.save) return;
    this.save.textContent = text;
    this.save.dataset.kind = kind;
  }

  saving() {
    if (!this.troubled) this.show(this.texts.saving, "saving");
  }

  saved() {
    this.show(this.texts.saved, "saved");
    if (this.troubled) {
      this.troubled = false;
      this.toldSending = false;
      this.hideBanner("trouble");
      this.hideBanner("offline");
      this.say(this.texts.back);
    }
  }

  trouble({ kind, sentence }, sending = false) {
    if (kind === "refused") return this.refuse(sentence);
    const first = this.troubled !== kind || (sending && !this.toldSending);
    this.troubled = kind;
    this.toldSending ||= sending;
    this.show(this.texts.offline, "offline");
    if (!first) return;
    if (kind === "signed-out") this.showBanner(this.texts.signedOut, "trouble", this.signInLink());
    else if (kind === "not-yours") this.showBanner(this.texts.notYours, "trouble");
    else if (sending) this.showBanner(this.texts.sendingOffline, "trouble");
    else this.goOnOffline();
  }

  goOnOffline() {
    this.showBanner(this.texts.offlineLong, "offline");
    this.say(this.texts.offlineLong);
  }

  signInLink() {
    const link = document.createElement("a");
    Object.assign(link, { href: this.urls.signIn, target: "_blank", rel: "noopener" });
    link.textContent = this.texts.signInAgain;
    return link;
  }

  lease(reply, mode) {
    if (mode !== "work") return;
    if (reply.held) {
      this.until = Date.now() + reply.secondsLeft * 1000;
      this.hideBanner("lease");
    } else if (reply.state === "expired" || reply.state === "released") {
      this.until = null;
      this.showBanner(this.texts[reply.state], "lease");
    }
  }

  tick(active) {
    const minutes = String(Math.floor(active / 60)).padStart(2, "0");
    const seconds = String(active % 60).padStart(2, "0");
    if (this.time) this.time.textContent = this.texts.active.replace("{time}", `${minutes}:${seconds}`);
    if (!this.hold) return;
    const left = this.until === null ? 0 : Math.ceil((this.until - Date.now()) / 60_000);
    this.hold.hidden = this.until === null;
    this.hold.textContent = this.texts.lease.replace("{n}", Math.max(0, left));
  }

  progress(n, all) {
    this.counted(this.texts.progress.replace("{n}", n).replace("{all}", all));
  }

  counted(text) {
    if (this.count) this.count.textContent = text;
  }

  sending(on) {
    this.button?.toggleAttribute("aria-disabled", on);
    this.button?.classList.toggle("busy", on);
    if (on) this.show(this.texts.sending, "saving");
  }

  refuse(sentence) {
    this.showBanner(sentence, "refusal");
  }

  // The page itself holds a submit back, until what is missing is there.
  holdBack(sentence) {
    this.showBanner(sentence, "missing");
  }

  // What is missing now; null: nothing. It was said aloud once: at every answer it would talk into the reading.
  stillMissing(sentence) {
    if (this.banner?.dataset.kind !== "missing" || this.banner.hidden) return;
    if (!sentence) return this.hideBanner("missing");
    this.showBanner(sentence, "missing");
    this.banner.setAttribute("aria-live", "off");
  }

  showBanner(text, kind, link = null) {
    if (!this.banner) return;
    this.banner.dataset.kind = kind;
    this.banner.removeAttribute("aria-live");
    const line = document.createElement("p");
    line.append(text);
    if (link) line.append(" ", link, ".");
    this.banner.replaceChildren(line);
    this.banner.hidden = false;
  }

  hideBanner(kind) {
    if (this.banner && this.banner.dataset.kind === kind) this.banner.hidden = true;
  }

  // For screen readers: said once, politely.
  say(text) {
    if (this.live) this.live.textContent = text;
  }
}
