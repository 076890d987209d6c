// How far the files are on their way, and what became of them.

const form = document.getElementById("new-study");
const place = document.getElementById("sending");
const bar = place.querySelector("progress");
const words = document.getElementById("sending-words").content;

function say(now) {
  place.hidden = !now;
  place.querySelector("p").textContent = now ? words.querySelector(`[data-now=${now}]`).textContent : "";
  bar.hidden = now === "lost";
}

form.addEventListener("htmx:beforeRequest", () => {
  document.getElementById("found").replaceChildren();
  bar.removeAttribute("value");
  say("sending");
});

form.addEventListener("htmx:xhr:progress", ({ detail }) => {
  if (!detail.lengthComputable) return;
  if (detail.loaded < detail.total) {
    bar.max = detail.total;
    bar.value = detail.loaded;
  } else {
    bar.removeAttribute("value");
    say("reading");
  }
});

form.addEventListener("htmx:afterRequest", ({ detail }) => say(detail.successful ? "" : "lost"));
form.addEventListener("htmx:afterSwap", () => {
  document.querySelector("#found section")?.scrollIntoView({ block: "nearest" });
});
