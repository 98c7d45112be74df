
"use strict";
// Comfort only: every link on the page works without it.
(() => {
  const steps = [...document.querySelectorAll(".step")];
  const sources = document.querySelector(".sources");
  let current = -1;

  const lineOf = (link) => link && document.getElementById(link.hash.slice(1));

  // Beside the story the source scrolls on its own, and the story stays where it is.
  const show = (line) => {
    document.querySelectorAll("tr.current").forEach((other) => other.classList.remove("current"));
    line.classList.add("current");
    const isBeside = getComputedStyle(sources).position === "sticky";
    const box = line.getBoundingClientRect();
    const frame = sources.getBoundingClientRect();
    if (isBeside) sources.scrollBy(0, box.top - frame.top - sources.clientHeight / 3);
    return isBeside;
  };

  const select = (at) => {
    steps.forEach((step, other) => step.classList.toggle("current", other === at));
    current = at;
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.place");
    const line = lineOf(link);
    if (!line || event.ctrlKey || event.metaKey || event.shiftKey) return;
    select(steps.indexOf(link.closest(".step")));
    if (show(line)) event.preventDefault();
  });

  document.addEventListener("keydown", (event) => {
    const by = { j: 1, k: -1 }[event.key];
    if (!by || event.ctrlKey || event.metaKey || event.altKey || steps.length === 0) return;
    select(Math.min(Math.max(current + by, 0), steps.length - 1));
    const step = steps[current];
    const line = lineOf(step.querySelector("a.place"));
    if (line && show(line)) step.scrollIntoView({ block: "nearest" });
    else (line || step).scrollIntoView({ block: "center" });
  });

  if (steps.length > 1 && sources) document.querySelectorAll(".keys").forEach((keys) => { keys.hidden = false; });
})();
