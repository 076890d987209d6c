// Keys of the Explorer: an element says by data-key which one it answers to; [ and ] go from system to system.

const links = [...document.querySelectorAll(".explore-systems h3 a")];

function neighbour(step) {
  const here = links.findIndex((link) => link.hasAttribute("aria-current"));
  return links[here + step];
}

function elementFor(key) {
  if (key === "[" || key === "]") return neighbour(key === "[" ? -1 : 1);
  return document.querySelector(`[data-key="${CSS.escape(key)}"]`);
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, select, textarea");
  if (typing && event.key === "Escape") return typing.blur();
  const onControl = event.key === "Enter" && event.target.closest("a, button, summary");
  if (typing || onControl || event.ctrlKey || event.metaKey || event.altKey) return;
  const element = elementFor(event.key);
  if (!element) return;
  event.preventDefault();
  if (element.matches("input")) element.focus();
  else element.click();
});

const chosen = document.querySelector(".explore-systems .chosen");
if (chosen) chosen.parentElement.scrollLeft = chosen.offsetLeft - chosen.parentElement.offsetLeft - 8;
