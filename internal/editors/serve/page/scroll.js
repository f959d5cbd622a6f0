// The conversation stays at its end while it grows, unless the user scrolled up.
const box = document.getElementById("scroll"), latest = document.getElementById("latest");
let stuck = true, own = 0;

const atEnd = () => box.scrollHeight - box.scrollTop - box.clientHeight < 60;
function end() { own = performance.now(); box.scrollTop = box.scrollHeight; }

box.addEventListener("scroll", () => {
  if (performance.now() - own < 80 && stuck) return; // it was us
  stuck = atEnd();
  latest.hidden = stuck || document.body.classList.contains("home");
}, { passive: true });
new ResizeObserver(() => { if (stuck) end(); }).observe(document.getElementById("log"));
new ResizeObserver(() => { if (stuck) end(); }).observe(box);

// keep draws. Where we were at the end, the observers above go there before the frame is shown: to ask
// for the height here would lay all of it out at once.
export function keep(draw) {
  draw();
  if (!stuck) latest.hidden = atEnd() || document.body.classList.contains("home");
}
export function toEnd() { stuck = true; latest.hidden = true; end(); }
export function toTop() { stuck = false; box.scrollTop = 0; }

// step goes to the next or the last prompt.
export function step(by) {
  const top = box.getBoundingClientRect().top + 8;
  const all = [...document.querySelectorAll(".turn")];
  const list = by > 0 ? all.filter((t) => t.getBoundingClientRect().top > top + 4) : all.filter((t) => t.getBoundingClientRect().top < top - 12);
  const to = by > 0 ? list[0] : list.at(-1);
  if (!to) { if (by > 0) toEnd(); return; }
  stuck = false;
  to.scrollIntoView({ block: "start" });
}
