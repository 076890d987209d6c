// The page around the frame: time left, a warning before it ends, and going on once the work is handed in.
const page = document.querySelector("[data-work]");
const clock = document.getElementById("time-left");
const say = document.getElementById("announce");
const warning = document.getElementById("soon");
const frame = document.querySelector("iframe");
let end = performance.now() + Number(page.dataset.seconds) * 1000;
const warnAt = Number(page.dataset.warn);
let warned = false;

const words = (seconds) => {
  const pad = (n) => String(n).padStart(2, "0");
  const h = Math.floor(seconds / 3600), m = Math.floor(seconds / 60) % 60, s = seconds % 60;
  return h ? `${h}:${pad(m)}:${pad(s)}` : `${m}:${pad(s)}`;
};

// Who likes goes on without a page between: the next one of the same kind is accepted, and shown.
const choice = document.getElementById("auto-next");
const box = choice.querySelector("input");
const KEY = "marketplace:accept-next";
try {
  box.checked = localStorage.getItem(KEY) === "yes";
} catch { /* this browser remembers nothing: asked anew on each page */ }
choice.hidden = false;
box.addEventListener("change", () => {
  try {
    localStorage.setItem(KEY, box.checked ? "yes" : "no");
  } catch { /* the same */ }
});

// false: what was worked on here isn't handed in, so nothing was accepted.
const goOn = async () => {
  const token = document.querySelector("#return [name=csrfmiddlewaretoken]").value;
  const headers = { Accept: "application/json", "X-CSRFToken": token };
  const body = new URLSearchParams({ after: page.dataset.assignment });
  const answer = await fetch(page.dataset.next, { method: "POST", headers, body });
  const { address = "", state = "" } = await answer.json();
  if (state === "Accepted") return false;
  leaving = true;
  if (answer.ok && address) window.location.replace(address);
  else window.location.reload(); // nothing left, or not for this worker: the page of the finished work says more
  return true;
};

let leaving = false;
let busy = false; // one question at a time: nothing is accepted twice
const look = async (isHandedIn = false) => {
  if (leaving || busy) return;
  busy = true;
  try {
    if (!(isHandedIn && box.checked && (await goOn()))) await askState();
  } catch { /* offline: the next look will tell */ } finally {
    busy = false;
  }
};

const askState = async () => {
  const answer = await fetch(page.dataset.state, { headers: { Accept: "application/json" } });
  if (!answer.ok) return;
  const { state, seconds_left: left } = await answer.json();
  if (state === "Accepted") {
    end = performance.now() + left * 1000; // this clock stands still while a laptop sleeps
  } else if (!box.checked || !["Submitted", "Approved"].includes(state) || !(await goOn())) {
    leaving = true;
    window.location.reload();
  }
};

const tick = () => {
  const left = Math.max(0, Math.round((end - performance.now()) / 1000));
  clock.textContent = words(left);
  if (left <= warnAt && !warned) {
    warned = true;
    clock.dataset.soon = "";
    warning.hidden = false;
    say.textContent = `The time for this assignment ends in ${words(left)} minutes. Submit what you have, or it is lost.`;
  }
  if (left === 0) look();
};

const ask = document.getElementById("ask-return");
document.getElementById("return").addEventListener("submit", (event) => {
  if (ask.open) return;
  event.preventDefault();
  ask.showModal();
});

// Keys belong to the task at once, and stay with it when it loads its next page.
const enter = () => {
  if (document.activeElement === document.body || document.activeElement === frame) frame.contentWindow.focus();
};
frame.addEventListener("load", enter);

tick();
setInterval(tick, 1000);
setInterval(() => look(), Number(page.dataset.every) * 1000);
document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
window.addEventListener("message", (event) => {
  if (event.source === frame.contentWindow && event.data === "marketplace:look") look(true); // a hint: the server knows
});
