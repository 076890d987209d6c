// A double click sends a form once: the second would make a second batch, link or token.

const WAIT = 5000; // then it may be sent again: an answer that is a file leaves the page as it was
const sent = new Set();

addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  if (sent.has(form)) {
    event.preventDefault();
    return;
  }
  sent.add(form);
  setTimeout(() => sent.delete(form), WAIT);
});
addEventListener("pageshow", () => sent.clear()); // back from the page that answered
