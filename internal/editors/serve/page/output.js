// Looking for words in what a command printed, and showing all of it.
import { fragment, make } from "./html.js";
import { get } from "./net.js";

const long = 60;

// dress gives long outputs a search.
export function dress(e) {
  for (const pre of e.querySelectorAll("pre.out")) {
    if (Number(pre.dataset.lines) < long || pre.nextElementSibling?.classList.contains("find")) continue;
    pre.after(finder(pre));
  }
}

function finder(pre) {
  const found = make("output"), input = make("input", { type: "search", placeholder: "Find in this output", "aria-label": "Find in this output" });
  let ranges = [], at = -1;
  const go = (by) => {
    if (!ranges.length) return;
    at = (at + by + ranges.length) % ranges.length;
    const r = ranges[at];
    for (let p = r.startContainer.parentElement; p && p !== pre; p = p.parentElement) if (p.nodeName === "DETAILS") p.open = true;
    CSS.highlights?.set("here", new Highlight(r));
    const line = r.getBoundingClientRect(), box = pre.getBoundingClientRect();
    pre.scrollTop += line.top - box.top - box.height / 2;
    found.textContent = `${at + 1} of ${ranges.length}`;
  };
  const look = () => {
    ranges = []; at = -1;
    const want = input.value.toLowerCase();
    if (want) {
      const walk = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
      for (let n; (n = walk.nextNode()) && ranges.length < 5000;) {
        const text = n.data.toLowerCase();
        if (n.parentElement.nodeName === "SUMMARY") continue;
        for (let i = text.indexOf(want); i >= 0 && ranges.length < 5000; i = text.indexOf(want, i + want.length)) { const r = new Range(); r.setStart(n, i); r.setEnd(n, i + want.length); ranges.push(r); }
      }
    }
    CSS.highlights?.set("found", new Highlight(...ranges));
    CSS.highlights?.delete("here");
    found.textContent = want ? (ranges.length ? `${ranges.length} found` : "nothing found") : "";
  };
  input.addEventListener("input", look);
  input.addEventListener("keydown", (e) => { if (e.key === "Enter") { e.preventDefault(); go(e.shiftKey ? -1 : 1); } });
  return make("div", { class: "find", "data-own": "" }, input, make("button", { type: "button", class: "quiet", "aria-label": "The one before", onclick: () => go(-1) }, "↑"), make("button", { type: "button", class: "quiet", "aria-label": "The next", onclick: () => go(1) }, "↓"), found);
}

// whole shows all that a call printed in the place of its end.
export async function whole(id, button) {
  const got = await get(`page/${encodeURIComponent(id)}/output?call=${button.dataset.call}`);
  const card = button.closest(".call"), now = fragment(got.html).firstElementChild;
  const old = card.querySelector("pre.out");
  card.querySelector(".cut")?.remove();
  card.querySelector(".find")?.remove();
  if (old && now) old.replaceWith(now); else if (now) button.before(now);
  button.replaceWith(make("p", { class: "dim" }, got.note || "This is all that it printed."));
  dress(card);
}
