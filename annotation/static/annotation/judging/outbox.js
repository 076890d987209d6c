// Finished tasks on their way to the server. One that was left for the next task is sent beside it, again and again until
// there is an answer; it outlives a reload and a crash, and its submit key makes a repetition harmless.
import { Transport, Trouble } from "./transport.js";

const NAME = "pyramidion:outbox";
const SLOWEST = 8_000; // ms between two tries

// The server's answer to a submission; throws the Trouble that no other try would mend.
export async function deliver(transport, submission, onTrouble) {
  for (let tries = 0; ; tries += 1) {
    try {
      return await transport.post(submission);
    } catch (trouble) {
      if (!(trouble instanceof Trouble) || !trouble.again) throw trouble;
      onTrouble(trouble);
      await pause(Math.min(SLOWEST, 500 * 2 ** tries));
    }
  }
}

function pause(delay) {
  return new Promise((resolve) => {
    setTimeout(resolve, delay);
    window.addEventListener("online", resolve, { once: true });
  });
}

// The same for a task that is not on the page any more.
export function sendBeside({ key, urls, csrfCookie }, submission, onTrouble) {
  keep(key, { urls, csrfCookie, submission });
  return deliver(new Transport({ urls, csrfCookie }), submission, onTrouble).finally(() => keep(key, null));
}

// What an earlier visit could not send any more. It does not decide what comes next: the page that is open does.
export function sendLeftovers() {
  for (const [key, { urls, csrfCookie, submission }] of Object.entries(read())) {
    const { straight_on, ahead, ...answers } = submission;
    new Transport({ urls, csrfCookie })
      .post(answers)
      .then(() => keep(key, null))
      .catch((trouble) => trouble.again || keep(key, null)); // refused: its own page has the answers, and says why
  }
}

function read() {
  try {
    return JSON.parse(localStorage.getItem(NAME)) ?? {};
  } catch {
    return {};
  }
}

function keep(key, entry) {
  const { [key]: _, ...others } = read();
  const entries = entry ? { ...others, [key]: entry } : others;
  try {
    if (Object.keys(entries).length) localStorage.setItem(NAME, JSON.stringify(entries));
    else localStorage.removeItem(NAME);
  } catch {
    // This tab's memory is all there is.
  }
}
