// The Monitor's live part is not replaced under the hands or eyes of somebody who is in it; and it says so, as it says
// when the site does not answer. A new part that arrives has no such note.

const say = (kind) => {
  const line = document.getElementById("live-state");
  const note = line?.querySelector("[data-note]");
  if (note && note.textContent !== line.dataset[kind]) note.textContent = line.dataset[kind];
  line?.classList.toggle("lost", kind === "lost");
};

document.addEventListener("htmx:beforeRequest", (event) => {
  const figures = event.target.closest("#live");
  if (!figures?.querySelector("details[open], :focus")) return;
  event.preventDefault();
  say("held");
});

for (const name of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) {
  document.addEventListener(name, (event) => event.target.closest("#live") && say("lost"));
}
