// A test: time left, and a warning before it ends.
const page = document.querySelector("[data-test]");
const clock = document.getElementById("time-left");
const end = performance.now() + Number(page.dataset.seconds) * 1000;
let warned = false;

const tick = () => {
  const left = Math.max(0, Math.round((end - performance.now()) / 1000));
  clock.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  if (left <= Number(page.dataset.warn) && !warned) {
    warned = true;
    clock.dataset.soon = "";
    document.getElementById("announce").textContent = `The time for this test ends in ${left} seconds. Hand in what you have.`;
  }
  if (left === 0) {
    clearInterval(timer);
    setTimeout(() => window.location.assign(window.location.pathname), 1500);
  }
};

const timer = setInterval(tick, 1000);
tick();
