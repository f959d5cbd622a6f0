// One dialog at a time, and a list to choose from.
import { rest } from "./composer.js";
import { make } from "./html.js";
const box = document.getElementById("dialog");
let closed = () => {};

export const isOpen = () => box.open;
// finish empties the box once after each close. The browser says "close" later, when the next dialog
// may already be there: then it has been done.
function finish() { const c = closed; closed = () => {}; box.className = ""; box.replaceChildren(); c(); }
// close closes the dialog, or nothing where another one is open by now than the one whose inside is named.
export function close(inside) { if (!inside || box.contains(inside)) { box.close(); finish(); } }
box.addEventListener("close", () => { if (!box.open) finish(); });
box.addEventListener("click", (e) => { if (e.target === box) close(); });

// open shows a dialog; the focus returns to where it was.
export function open(title, body, { big, onclose } = {}) {
  close();
  const from = document.activeElement;
  box.className = big ? "big" : "";
  const inside = make("div", { class: "dbody", tabindex: "0" }, ...body);
  box.replaceChildren(make("div", { class: "dhead" }, make("h2", { id: "dialogtitle" }, title), make("button", { type: "button", class: "icon", "aria-label": "Close", title: "Close (Esc)", onclick: () => close() }, "✕")), inside);
  closed = () => { onclose?.(); if (from?.isConnected && from !== document.body) from.focus(); else rest(); };
  box.showModal();
  return inside;
}

// choose shows a list; rows are {name, about, side, off, value}. Typing narrows it.
export function choose(title, rows, then, { placeholder, search } = {}) {
  const input = make("input", { type: "text", placeholder: placeholder ?? "Type to narrow", "aria-label": title, role: "combobox", "aria-expanded": "true", "aria-controls": "options", autocomplete: "off" });
  const list = make("ul", { class: "options", id: "options", role: "listbox", "aria-label": title });
  const inside = open(title, [input, list]);
  let shown = [], at = 0;
  const mark = () => {
    [...list.children].forEach((li, i) => li.setAttribute("aria-selected", String(i === at)));
    list.children[at]?.scrollIntoView({ block: "nearest" });
    if (list.children[at]) input.setAttribute("aria-activedescendant", list.children[at].id); else input.removeAttribute("aria-activedescendant");
  };
  const pick = (r) => { if (!r || r.off) return; close(); then(r); };
  const draw = (all) => {
    shown = all;
    at = Math.max(0, all.findIndex((r) => r.now));
    list.replaceChildren(...all.map((r, i) => make("li", { role: "option", id: "option" + i, "aria-disabled": r.off ? "true" : false, onclick: () => pick(r) },
      make("span", { class: "name" }, r.name), r.side ? make("span", { class: "dim" }, r.side) : "", r.about || r.off ? make("span", { class: "about" }, r.off || r.about) : "")));
    mark();
  };
  const narrow = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    draw(rows.filter((r) => words.every((w) => (r.name + " " + (r.about ?? "")).toLowerCase().includes(w))));
    if (!words.length) return;
    at = 0; mark();
  };
  let turn = 0;
  input.addEventListener("input", async () => {
    if (!search) return narrow();
    const mine = ++turn;
    const got = await search(input.value);
    if (mine === turn) { rows = got; draw(got); }
  });
  input.addEventListener("keydown", (e) => {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[e.key];
    if (by) { e.preventDefault(); at = Math.min(Math.max(0, at + by), shown.length - 1); mark(); }
    if (e.key === "Enter") { e.preventDefault(); pick(shown[at]); }
  });
  draw(rows);
  input.focus();
  return { inside, set(all) { rows = all; narrow(); } };
}
