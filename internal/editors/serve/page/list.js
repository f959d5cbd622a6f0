// The list of sessions: beside the conversation, and as the overview. It is grouped by what sessions
// do or by folder, narrowed by a filter, and each row can be looked into without opening it.
import * as dialog from "./dialog.js";
import { children, fragment, make } from "./html.js";
import { act, get } from "./net.js";

const boxes = [document.getElementById("list"), document.getElementById("homelist")];
let app = {}, html = "", words = "", folders = localStorage.getItem("adze-group") === "folder";
let peeked = "", panel = null, look = 0;

export function start(host) { app = host; }

// show draws what the server tells of the list.
export function show(text) { html = text; draw(); if (peeked) { clearTimeout(look); look = setTimeout(fill, 300); } }

const short = (dir) => dir.replace(/^\/(home|Users)\/[^/]+/, "~");
const rowOf = (e) => e?.closest?.(".row");
const idOf = (row) => row?.querySelector("[data-session]").dataset.session ?? "";
const linkIn = (box, id) => box.querySelector(`[data-session="${CSS.escape(id)}"]`);
const title = (row) => row.querySelector(".name").textContent.replace(/^Pinned: /, "");

// byFolder groups the rows of all groups by their folders; what a row does stands in it.
function byFolder(f) {
  const groups = new Map();
  for (const row of f.querySelectorAll(".row")) {
    const dir = row.dataset.folder;
    if (!groups.has(dir)) groups.set(dir, []);
    groups.get(dir).push(row);
  }
  const out = document.createDocumentFragment();
  for (const [dir, rows] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1))) out.append(make("section", { class: "group byfolder" }, make("h2", { title: dir }, short(dir) || "No folder"), make("ul", {}, ...rows)));
  return out;
}

function narrow(f) {
  const all = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (!all.length) return;
  for (const row of f.querySelectorAll(".row")) {
    const text = (row.textContent + " " + row.dataset.folder).toLowerCase();
    if (!all.every((w) => text.includes(w))) row.remove();
  }
  for (const group of f.querySelectorAll(".group")) if (!group.querySelector(".row")) group.remove();
  if (!f.querySelector(".row")) f.append(make("p", { class: "empty" }, "No session is like that."));
}

export function draw() {
  const focused = document.activeElement, at = boxes.find((b) => b.contains(focused)), row = rowOf(focused), id = idOf(row), where = focused?.className;
  panel?.remove();
  for (const box of boxes) {
    let f = fragment(html);
    const some = !!f.querySelector(".row"), many = f.querySelectorAll(".row").length > 1;
    if (folders && some) f = byFolder(f);
    narrow(f);
    if (many) f.prepend(bar());
    if (box.id === "homelist") {
      box.classList.toggle("some", some);
      f.prepend(make("div", { class: "welcome" }, make("h2", {}, some ? "What is next?" : "What should adze do?"), make("p", {}, `Say it below; it works in ${app.folders() > 1 ? short(app.folder()) : "this folder"} and asks before it does what you have not allowed.`)));
    }
    for (const a of f.querySelectorAll("[aria-current]")) if (box.id === "homelist" || a.dataset.session !== app.id()) a.removeAttribute("aria-current");
    children(box, f);
    for (const r of box.querySelectorAll(".row")) r.querySelector(".more").setAttribute("aria-expanded", String(!!panel && box === panel.box && idOf(r) === peeked));
  }
  app.drawn();
  if (panel) {
    const li = linkIn(panel.box, peeked)?.parentElement;
    if (li) li.append(panel); else unpeek();
  }
  if (!at || document.activeElement === focused && rowOf(focused) === row && idOf(row) === id) return;
  if (panel?.contains(focused) && panel.isConnected) focused.focus(); // it was moved with the panel
  else if (id) { const to = linkIn(at, id); (where?.includes("more") ? to?.nextElementSibling : to)?.focus(); }
}

function bar() {
  return make("div", { class: "listbar" }, make("input", { type: "search", class: "filter", placeholder: "Filter", "aria-label": "Filter the list of sessions", autocomplete: "off", value: words }),
    make("button", { type: "button", class: "quiet", "data-act": "group", "aria-pressed": String(folders) }, "By folder"));
}

export function group() {
  folders = !folders;
  localStorage.setItem("adze-group", folders ? "folder" : "state");
  draw();
  app.say(folders ? "The list is grouped by folder" : "The list is grouped by what sessions do");
}

// enter gives the list the focus.
export function enter() {
  const box = boxes.findLast((b) => b.querySelector("[data-session]")?.offsetParent);
  (linkIn(boxes[0], app.id() || "-") ?? box?.querySelector("[data-session]") ?? boxes[0]).focus();
}

// peek looks into a session, or closes the look into it.
export function peek(row) {
  const id = idOf(row), again = panel && id === peeked && row.contains(panel);
  unpeek();
  if (again) return;
  peeked = id;
  panel = make("div", { class: "peek", role: "group", "aria-label": "About " + title(row), "data-own": "" }, make("p", { class: "dim" }, "Looking…"));
  panel.box = boxes.find((b) => b.contains(row));
  row.append(panel);
  row.querySelector(".more").setAttribute("aria-expanded", "true");
  fill();
}

function unpeek() {
  const row = rowOf(panel);
  row?.querySelector(".more").setAttribute("aria-expanded", "false");
  if (panel?.contains(document.activeElement)) row?.querySelector("a").focus();
  panel?.remove();
  panel = null; peeked = "";
}

// fill writes what there is to say of the session that is looked into.
async function fill() {
  const id = peeked, to = panel;
  if (!id) return; // it was closed meanwhile
  let got = {}, problem = "";
  try { got = await get(`page/${encodeURIComponent(id)}/peek`); } catch (e) { problem = e.message; }
  const row = rowOf(to);
  if (panel !== to || !row) return;
  const has = (c) => row.classList.contains(c), changed = got.changed ?? [], said = got.said || got.asked || "";
  const now = make("div", {}, ...(problem ? [make("p", { class: "problem" }, problem)] : []),
    ...(got.asks ? [make("p", { class: "asks" }, got.asks)] : []),
    ...(said ? [make("p", { class: "said", tabindex: "0" }, said.length > 600 ? said.slice(0, 600).replace(/\S*$/, "…") : said)] : []),
    ...(changed.length ? [make("p", { class: "dim" }, `Changed ${changed.length} ${changed.length === 1 ? "file" : "files"}: ${changed.slice(0, 5).join(", ")}${changed.length > 5 ? ", …" : ""}`)] : []),
    ...(!problem && !got.asks && !said && !changed.length ? [make("p", { class: "dim" }, "Nothing was said in it yet.")] : []),
    make("p", { class: "acts" }, ...rowActions.filter((a) => !a.when || a.when(has)).map((a) => make("button", { type: "button", class: "quiet", "data-row": a.key }, a.title(has)))));
  children(to, now);
}

const done = (p, text) => app.doing(p.then(() => app.say(text)));
const line = (name, text, about, then) => {
  const input = make("input", { "aria-label": name, value: text });
  dialog.open(name, [make("form", { onsubmit: (e) => { e.preventDefault(); dialog.close(); if (input.value.trim()) then(input.value.trim()); } }, ...(about ? [make("p", { class: "dim" }, about)] : []), input, make("p", { class: "acts" }, make("button", { class: "main" }, name)))]);
  input.select();
};
export const rename = (id, text) => line("Rename", text, "", (name) => done(act(id, "rename", { name }), "Renamed"));

// rowActions are what can be done with a session from its row, each with its key.
export const rowActions = [
  { key: "Enter", title: () => "Open", run: (row) => app.go(idOf(row)) },
  { key: "p", title: (has) => (has("pinned") ? "Unpin" : "Pin"), run: (row) => done(act(idOf(row), "tag", { text: (row.classList.contains("pinned") ? "-" : "+") + "pinned" }), row.classList.contains("pinned") ? "Not pinned" : "Pinned") },
  { key: "t", title: () => "Tag", run: (row) => line("Tag", "", "One word, such as keep; -keep takes it away.", (text) => done(act(idOf(row), "tag", { text }), "Tagged")) },
  { key: "r", title: () => "Rename", run: (row) => rename(idOf(row), title(row)) },
  { key: "s", title: () => "Stop", when: (has) => has("lives"), run: (row) => done(act(idOf(row), "stop"), "Stopped") },
  { key: "v", title: () => "Reviewed", when: (has) => has("review"), run: (row) => done(act(idOf(row), "reviewed"), "Reviewed") },
];

// rowKeys are the keys in the list, for the list of keys.
export const rowKeys = [["↑ ↓", "In the list: the row before, the next row"], ["Space", "In the list: look into the session"], ["p t r s v", "In the list: pin, tag, rename, stop, mark as reviewed"], ["g", "In the list: group by folder"], ["f", "In the list: filter"]];

// keydown reports a key that was used in the list.
export function keydown(e) {
  const box = boxes.find((b) => b.contains(e.target));
  if (!box || e.ctrlKey || e.altKey || e.metaKey) return false;
  const links = [...box.querySelectorAll("[data-session]")], row = rowOf(e.target), at = links.indexOf(row?.querySelector("a"));
  if (e.target.matches(".filter")) {
    if (e.key === "Escape" && words) { filter(""); return true; }
    if (e.key !== "ArrowDown" && e.key !== "Enter" && e.key !== "Escape") return false;
    (links[0] ?? box).focus();
    return true;
  }
  if (e.key === "Escape" && panel) { unpeek(); return true; }
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, j: at + 1, k: at - 1, Home: 0, End: links.length - 1 }[e.key];
  if (to !== undefined && !e.shiftKey) { links[Math.min(Math.max(to, 0), links.length - 1)]?.focus(); return true; }
  if (e.key === "g") { group(); return true; }
  if (e.key === "f") { const f = box.querySelector(".filter"); f?.focus(); return !!f; }
  if (!row || e.target.nodeName !== "A") return false;
  if (e.key === " ") { peek(row); return true; }
  const a = e.key !== "Enter" && rowActions.find((a) => a.key === e.key);
  if (!a) return false;
  if (a.when && !a.when((c) => row.classList.contains(c))) app.tell(a.key === "s" ? "Nothing of this session runs" : "This session has nothing to review"); else a.run(row);
  return true;
}

// pressed does what a button of the list says, and reports that it is one.
export function pressed(button) {
  const row = rowOf(button), a = rowActions.find((a) => a.key === button.dataset.row);
  if (a) a.run(row); else if (button.dataset.act === "peek") peek(row); else if (button.dataset.act === "group") group(); else return false;
  return true;
}

function filter(text) {
  words = text;
  for (const f of document.querySelectorAll(".filter")) if (f.value !== text) f.value = text;
  draw();
}
document.addEventListener("input", (e) => { if (e.target.matches?.(".filter")) filter(e.target.value); });
