// The Monitor's live part is not replaced under the hands or eyes of somebody who is in it.

document.addEventListener("htmx:beforeRequest", (event) => {
  const figures = event.target.closest("#live");
  if (figures?.querySelector("details[open], :focus")) event.preventDefault();
});
