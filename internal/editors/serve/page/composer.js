// The prompt: its text and files are kept per session, it has a history, completes / and @.
import { make } from "./html.js";
import { get } from "./net.js";

const words = document.getElementById("words"), menu = document.getElementById("menu"), list = document.getElementById("files"), form = document.getElementById("say"), pick = document.getElementById("pick");
let of = "", files = [], at = 0, options = [], past = [], back = 0, draft = "", turn = 0;
const filesOf = new Map(); // of sessions that are not shown
let host = { id: () => "", commands: () => [], ensure: async () => "", trouble: () => {} };

export function start(h) { host = h; }
export const text = () => words.value;
export function set(value) { words.value = value; words.setSelectionRange(value.length, value.length); keepDraft(); }
export function forgetPast() { past = []; back = 0; }
export function addPast(older) { past = [...older.filter((t) => !past.includes(t)), ...past]; back = 0; }
export function focus() { words.focus({ preventScroll: true }); }
// rest focuses the prompt where that opens no keyboard over the page.
export function rest() { if (!matchMedia("(pointer: coarse)").matches) focus(); }
export function take() {
  const out = { text: words.value, files, once: unsentOf(of, files) || newKey() };
  sessionStorage.removeItem(unsent(of));
  if (out.text.trim() && past.at(-1) !== out.text) past.push(out.text);
  words.value = ""; files = []; back = 0; drawFiles(); hide(); keepDraft();
  return out;
}
// give puts back what was not sent, before what was written since, in the session that it is of. It
// reports whether that one is shown.
export function give({ text, files: old, once }, to) {
  const shown = to === of, join = (now) => [text, now].filter(Boolean).join("\n\n");
  if (once && join(shown ? words.value : sessionStorage.getItem(key(to)) ?? "") === text) sessionStorage.setItem(unsent(to), JSON.stringify({ text, once, names: names(old) }));
  if (shown) { set(join(words.value)); files = [...old, ...files]; drawFiles(); rest(); return true; }
  store(to, join(sessionStorage.getItem(key(to)) ?? ""));
  filesOf.set(to, [...old, ...(filesOf.get(to) ?? [])]);
  return false;
}

const key = (id) => "adze-draft-" + id;
function store(id, text) {
  if (text) sessionStorage.setItem(key(id), text); else sessionStorage.removeItem(key(id));
  if (JSON.parse(sessionStorage.getItem(unsent(id)) ?? "{}").text !== text) sessionStorage.removeItem(unsent(id)); // another message
}

// Each message has a key. One that was given back may have been taken all the same: it keeps its key
// for as long as nobody changes it, and the server does nothing by a key twice.
const unsent = (id) => "adze-once-" + id;
const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
const names = (all) => all.map((f) => f.filename).join("\n");
const unsentOf = (id, sent) => { const u = JSON.parse(sessionStorage.getItem(unsent(id)) ?? "{}"); return u.names === names(sent) ? u.once : ""; };
function keepDraft() { store(of, words.value); }
export function restore(to) {
  filesOf.set(of, files);
  of = to; files = filesOf.get(of) ?? []; words.value = sessionStorage.getItem(key(of)) ?? "";
  drawFiles();
  hide();
}
// carry takes what was written along into a session that was begun for it.
export function carry(to) {
  store(of, ""); store(to, words.value);
  filesOf.set(to, files); files = [];
}

// Files.
const maxFile = 20 << 20;
export async function add(all) {
  const to = of, read = [];
  for (const f of all) {
    if (f.size > maxFile) { host.trouble(f.name + " is larger than 20 MB; name its path in your message instead"); continue; }
    const url = await new Promise((done) => { const r = new FileReader(); r.onload = () => done(r.result); r.onerror = () => done(""); r.readAsDataURL(f); });
    if (url) read.push({ type: "file", filename: f.name || "pasted.png", mediaType: f.type, url });
    else host.trouble(f.name + " cannot be read; a folder is named by its path instead");
  }
  if (to !== of) { filesOf.set(to, [...(filesOf.get(to) ?? []), ...read]); return; }
  files.push(...read);
  drawFiles();
  rest();
}
function drawFiles() {
  list.replaceChildren(...files.map((f, i) => make("li", {}, /^data:image\/(png|jpeg|gif|webp)/.test(f.url) ? make("img", { src: f.url, alt: "" }) : "", make("span", {}, f.filename),
    make("button", { type: "button", class: "quiet", "aria-label": "Remove " + f.filename, onclick: () => { files.splice(i, 1); drawFiles(); focus(); } }, "✕"))));
}
pick.addEventListener("change", () => { add([...pick.files]); pick.value = ""; });
words.addEventListener("paste", (e) => { const all = [...e.clipboardData.files]; if (all.length) { e.preventDefault(); add(all); } });
for (const kind of ["dragover", "dragleave", "drop"]) document.addEventListener(kind, (e) => {
  if (!e.dataTransfer?.types.includes("Files")) return;
  e.preventDefault();
  form.classList.toggle("over", kind === "dragover");
  if (kind === "drop") add([...e.dataTransfer.files]);
});

// Completion.
function hide() { menu.hidden = true; options = []; words.removeAttribute("aria-activedescendant"); turn++; }
function offer(all) {
  options = all; at = 0;
  menu.hidden = !all.length;
  menu.replaceChildren(...all.map((o, i) => make("li", { role: "option", id: "m" + i, "aria-selected": "false", onmousedown: (e) => { e.preventDefault(); at = i; accept(); } }, make("code", {}, o.name), o.about ? make("span", { class: "about" }, o.about) : "")));
  mark();
}
function mark() {
  [...menu.children].forEach((li, i) => li.setAttribute("aria-selected", String(i === at)));
  if (!options.length) return words.removeAttribute("aria-activedescendant");
  words.setAttribute("aria-activedescendant", "m" + at);
  menu.children[at].scrollIntoView({ block: "nearest" });
}
function accept() {
  const o = options[at];
  hide();
  if (!o) return;
  if (o.run && o.whole) { words.value = ""; keepDraft(); o.run(); return; }
  const end = words.selectionStart, put = o.insert + (o.insert.endsWith("/") ? "" : " ");
  words.setRangeText(put, end - o.typed.length, end, "end");
  keepDraft();
  if (o.insert.endsWith("/")) complete();
}
async function complete() {
  const before = words.value.slice(0, words.selectionStart), mine = ++turn;
  const slash = /^\/(\S*)$/.exec(before), name = /(?:^|\s)(@[^\s@]*)$/.exec(before);
  if (slash) {
    const want = slash[1].toLowerCase();
    const all = await host.commands();
    if (mine !== turn) return;
    offer(all.filter((c) => c.name.slice(1).toLowerCase().includes(want)).sort((a, b) => b.name.slice(1).startsWith(want) - a.name.slice(1).startsWith(want)).slice(0, 40).map((c) => ({ ...c, insert: c.name, typed: before, whole: true })));
  } else if (name) {
    const typed = name[1];
    try {
      if (!of) { await host.ensure(); return of ? complete() : undefined; } // its text is in the new session now
      const got = await get(`page/${encodeURIComponent(of)}/files?q=${encodeURIComponent(typed.slice(1))}`);
      if (mine === turn) offer(got.map((p) => ({ name: p, insert: "@" + p, typed })));
    } catch (e) { host.trouble(e.message); }
  } else hide();
}
words.addEventListener("input", () => { keepDraft(); complete(); });
words.addEventListener("blur", () => setTimeout(() => { if (document.activeElement !== words) hide(); }, 100));

// keydown reports a key that was used here.
export function keydown(e) {
  if (!menu.hidden) {
    if (e.key === "ArrowDown" || e.key === "ArrowUp") { at = (at + (e.key === "ArrowDown" ? 1 : -1) + options.length) % options.length; mark(); return true; }
    if (e.key === "Tab" || e.key === "Enter" && !e.shiftKey) { accept(); return true; }
    if (e.key === "Escape") { hide(); return true; }
  }
  if ((e.key === "ArrowUp" || e.key === "ArrowDown") && !e.shiftKey && !e.altKey && !e.ctrlKey && !e.metaKey) return recall(e.key === "ArrowUp" ? 1 : -1);
  return false;
}
function recall(by) {
  const edge = by > 0 ? !words.value.slice(0, words.selectionStart).includes("\n") : !words.value.slice(words.selectionStart).includes("\n");
  const to = back + by;
  if (!edge || to < 0 || to > past.length || back === 0 && words.value && by > 0 && words.selectionStart > 0) return false;
  if (back === 0) draft = words.value;
  back = to;
  words.value = back ? past[past.length - back] : draft;
  words.setSelectionRange(words.value.length, words.value.length);
  return true;
}
