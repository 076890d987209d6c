// Runs inside the sandboxed frame of an HTMLQuestion, before the requester's own scripts.
// Points forms at this market, fills in the assignment id, and switches inputs off while somebody only looks.
(() => {
  const { assignmentId, submit, preview } = document.currentScript.dataset;
  const isOurs = (form) => /externalSubmit/i.test(form.getAttribute("action") || "") || form.id === "mturk_form" || form.name === "mturk_form";

  const fill = (form) => {
    if (!isOurs(form)) return;
    form.setAttribute("action", submit);
    form.setAttribute("method", "post");
    let field = form.querySelector('input[name="assignmentId"]');
    if (!field) {
      field = Object.assign(document.createElement("input"), { type: "hidden", name: "assignmentId" });
      form.append(field);
    }
    field.value = assignmentId;
  };

  const switchOff = () => {
    for (const control of document.querySelectorAll("input, button, select, textarea")) control.disabled = true;
  };

  const tend = () => {
    for (const form of document.forms) fill(form);
    if (preview) switchOff();
  };

  // Pages call this helper of Amazon's by name; its file may be out of reach.
  window.turkSetAssignmentID = window.turkSetAssignmentID || tend;
  window.turkGetParam = window.turkGetParam || ((name, otherwise = "") => new URLSearchParams(location.search).get(name) || otherwise);
  window.turkGetSubmitToHost = window.turkGetSubmitToHost || (() => new URL(submit).origin);

  // <crowd-form> without its library is still a form.
  const standIn = () => {
    for (const crowd of document.querySelectorAll("crowd-form")) {
      if (window.customElements.get("crowd-form") || crowd.querySelector("form")) continue;
      const form = document.createElement("form");
      form.name = "mturk_form";
      form.append(...crowd.childNodes);
      if (!form.querySelector('button:not([type="button"]), input[type="submit"]')) {
        form.append(Object.assign(document.createElement("button"), { textContent: "Submit" }));
      }
      crowd.append(form);
    }
  };

  document.addEventListener("DOMContentLoaded", () => {
    tend();
    new MutationObserver(tend).observe(document.documentElement, { childList: true, subtree: true });
  });
  window.addEventListener("load", () => { standIn(); tend(); });
  document.addEventListener("submit", (event) => {
    if (preview) event.preventDefault();
    else fill(event.target);
  }, true);
})();
