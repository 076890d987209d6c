// The Monitor's live part is not replaced under the hands or eyes of somebody who is in it.

document.addEventListener("htmx:beforeRequest", (event) => {
  const live = event.target.closest("#live");
  if (live?.querySelector("details[open], :focus")) event.preventDefault();
});
