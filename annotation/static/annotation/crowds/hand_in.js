// The answers are with us; now the browser hands the assignment in on the market, and tries again until it answers.
// Without this script, or on a market that answers no script, the button sends the same form.
const PATIENCE = 10_000;
const SLOWEST = 30_000;
const TELL_AFTER = 2; // failed tries, before the worker is told

const texts = JSON.parse(document.getElementById("handin-texts").textContent);
const form = document.getElementById("handin");
const state = document.getElementById("handin-state");
const trouble = document.getElementById("handin-trouble");
const market = new URL(form.action).origin;

function tell(sentence) {
  trouble.textContent = sentence;
  trouble.hidden = !sentence;
}

// Our own marketplace looks at once what became of the assignment; others find out by themselves.
function look() {
  if (parent !== window) parent.postMessage("marketplace:look", market);
}

function handedIn() {
  state.textContent = texts.done;
  tell("");
  form.hidden = true;
  look();
}

// true: the market has answered, one way or the other.
async function hand() {
  const options = { method: "POST", body: new URLSearchParams(new FormData(form)), credentials: "omit" };
  const headers = { Accept: "application/json" };
  const answer = await fetch(form.action, { ...options, headers, signal: AbortSignal.timeout(PATIENCE) });
  if (answer.ok) return handedIn(), true;
  if (answer.status >= 500 || answer.status === 429) return false;
  const { message = "" } = await answer.json().catch(() => ({}));
  state.textContent = texts.refused;
  tell(message);
  look();
  return true;
}

async function keepTrying() {
  for (let tries = 0; ; tries += 1) {
    if (await hand().catch(() => false)) return;
    if (tries + 1 >= TELL_AFTER) {
      state.textContent = texts.waiting;
      tell(texts.silent);
    }
    await new Promise((resolve) => {
      setTimeout(resolve, Math.min(SLOWEST, 1000 * 2 ** tries));
      window.addEventListener("online", resolve, { once: true });
    });
  }
}

state.textContent = texts.sending;
keepTrying();
