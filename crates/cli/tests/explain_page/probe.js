"use strict";
// Each frame is a page. What is found out about it goes, as JSON, into the text of this one.

const inks = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

// Any colour that a style can have, as four numbers.
const numbers = (colour) => {
  inks.clearRect(0, 0, 1, 1);
  inks.fillStyle = colour;
  inks.fillRect(0, 0, 1, 1);
  return [...inks.getImageData(0, 0, 1, 1).data];
};

const luminance = (colour) => {
  const [r, g, b] = colour.slice(0, 3).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

const contrast = (one, other) => {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};

// What is behind an element: the nearest ground around it that is not transparent.
const ground = (element, view) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = numbers(view.getComputedStyle(at).backgroundColor);
    if (colour[3] === 255) return colour;
  }
  return [255, 255, 255, 255];
};

// The texts whose contrast is below what WCAG 2 asks for at level AA.
const pale = (page, view) => {
  const found = new Set();
  for (const element of page.body.querySelectorAll("*")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || element.tagName === "SCRIPT" || !element.getClientRects().length) continue;
    const style = view.getComputedStyle(element);
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    const ratio = contrast(numbers(style.color), ground(element, view));
    if (ratio < least) found.add(`${element.tagName}.${element.className} ${ratio.toFixed(2)}`);
  }
  return [...found];
};

const ids = (page) => [...page.querySelectorAll("[id]")].map((element) => element.id);
const target = (page, link) => page.getElementById(link.getAttribute("href").slice(1));

const shown = (frame, errors) => {
  const page = frame.contentDocument, view = frame.contentWindow;
  const links = [...page.querySelectorAll("a")];
  const steps = [...page.querySelectorAll(".step")].map((step) => {
    const place = step.querySelector("a.place");
    return { place: place.textContent, leads: place.getAttribute("href").slice(1), text: step.textContent };
  });
  const rows = [...page.querySelectorAll(".sources tr[id]")].map((row) => ({
    id: row.id,
    line: Number(row.querySelector(".number").textContent),
    marks: [...row.querySelectorAll(".marks a")].map((mark) => mark.textContent),
  }));
  return {
    title: page.title,
    text: page.body.textContent,
    dark: view.matchMedia("(prefers-color-scheme: dark)").matches,
    width: page.documentElement.scrollWidth,
    room: view.innerWidth,
    outside: [...page.querySelectorAll("[src], [href], [action], [srcset]")]
      .map((element) => element.outerHTML)
      .filter((text) => !/^<a [^>]*href="#/.test(text)),
    dangling: links.filter((link) => !target(page, link)).map((link) => link.outerHTML),
    doubles: ids(page).filter((id, at, all) => all.indexOf(id) !== at),
    resources: view.performance.getEntriesByType("resource").map((entry) => entry.name),
    scripts: page.querySelectorAll("script").length,
    pale: pale(page, view),
    causes: [...page.querySelectorAll("tr.is-cause .number")].map((number) => number.textContent),
    steps,
    rows,
    errors,
  };
};

// Presses j twice, and says where that leads.
const stepped = (frame) => {
  const page = frame.contentDocument, view = frame.contentWindow;
  for (let times = 0; times < 2; times++) page.dispatchEvent(new view.KeyboardEvent("keydown", { key: "j" }));
  const line = page.querySelector("tr.current");
  const box = line && line.getBoundingClientRect();
  return {
    stepped: page.querySelector(".step.current")?.id ?? null,
    stepped_line: line?.id ?? null,
    is_in_sight: !!box && box.top >= 0 && box.bottom <= view.innerHeight,
  };
};

// Puts into a page what its policy must keep out.
const intrude = async (frame) => {
  const page = frame.contentDocument, view = frame.contentWindow;
  const kept = new Set();
  page.addEventListener("securitypolicyviolation", (event) => kept.add(event.effectiveDirective));
  const add = (name, change) => page.body.append(Object.assign(page.createElement(name), change));
  add("script", { textContent: "window.intruded = true" });
  add("style", { textContent: "body { visibility: hidden }" });
  add("img", { src: "http://127.0.0.1:9/picture.png" });
  await new Promise((resolve) => setTimeout(resolve, 500));
  const isHidden = view.getComputedStyle(page.body).visibility === "hidden";
  return { kept_out: [...kept].sort(), intruded: Boolean(view.intruded) || isHidden };
};

window.addEventListener("load", async () => {
  const seen = [];
  for (const frame of document.querySelectorAll("iframe")) {
    const errors = [];
    frame.contentWindow.addEventListener("error", (event) => errors.push(event.message));
    const looks = { ...shown(frame, errors), ...stepped(frame) };
    // In the light the log of the browser is looked at, which tells of each thing that is kept out.
    seen.push(looks.dark ? { ...looks, ...(await intrude(frame)) } : looks);
  }
  const answer = document.createElement("pre");
  answer.id = "seen";
  answer.textContent = JSON.stringify(seen);
  document.body.replaceChildren(answer);
});
