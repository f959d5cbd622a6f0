// All that can be done, in one table: the list of everything (Ctrl+K), commands after a slash, keys
// and buttons are made of it.
import * as composer from "./composer.js";
import * as dialog from "./dialog.js";
import { make } from "./html.js";
import { act, ask, get } from "./net.js";
import { review, undo } from "./review.js";
import { step, toEnd } from "./scroll.js";
import { modes } from "./bar.js";
import { group, rename, rowKeys } from "./list.js";

export function table(app) {
  const session = () => app.id() !== "";
  const pickModel = async () => {
    const id = await app.ensure(), now = app.bar()?.model;
    if (id !== app.id()) return;
    const list = dialog.choose("Model", [{ name: "Looking for models…", off: " " }], (r) => app.doing(act(id, "set", { name: "model", value: r.value }).then((set) => app.went(set.id, id))));
    get(`page/${encodeURIComponent(id)}/models`).catch((e) => [{ Name: "The models are not known", Why: e.message }]).then((rows) => list.set((rows ?? []).map((r) => ({ name: r.Name, value: r.Name, now: r.Name === now, off: r.Why, about: r.Note, side: [r.Context ? Math.round(r.Context / 1000) + "k" : "", r.Input != null ? `$${r.Input} / $${r.Output}` : ""].filter(Boolean).join(" · ") }))));
  };
  const pickOf = async (title, name, list) => {
    const id = await app.ensure(), m = await app.menu(), now = app.bar()?.[name];
    if (id !== app.id()) return;
    dialog.choose(title, (m[list] ?? []).map((o) => ({ name: name === "mode" ? modes[o.Name] ?? o.Name : o.Name, about: o.Means, side: name === "mode" ? o.Name : "", value: o.Name, now: o.Name === now })), (r) => app.doing(act(id, "set", { name, value: r.value })));
  };
  const save = async (form) => {
    const of = app.id(), blob = await (await ask(`page/${encodeURIComponent(of)}/export?form=${form}`)).blob();
    const url = URL.createObjectURL(blob), a = make("a", { href: url, download: of + "." + form });
    a.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  };
  const search = () => {
    const rows = () => [...document.querySelectorAll("#list [data-session]")].map((a) => ({ name: a.querySelector(".name").textContent, about: a.querySelector(".doing")?.textContent, side: a.querySelector("time")?.textContent, value: a.dataset.session }));
    dialog.choose("Search sessions", rows(), (r) => app.go(r.value), { placeholder: "Titles, and all that was said and done", search: async (text) => {
      const low = text.toLowerCase(), near = rows().filter((r) => r.name.toLowerCase().includes(low));
      if (text.trim().length < 2) return near;
      const got = await get("page/search?q=" + encodeURIComponent(text)).catch((e) => ({ found: [], note: e.message }));
      return [...near, ...got.found.map((f) => ({ name: f.Title || f.Session, about: `${f.Kind}: ${f.Snippet}`, side: new Date(f.Time).toLocaleDateString(), value: f.Session })), ...(got.note ? [{ name: got.note, off: " " }] : [])];
    } });
  };
  const keys = () => dialog.open("Keys", [make("dl", { class: "keys" }, ...[["Enter", "Send; while it works: say it before its next step"], ["Ctrl+Enter", "Queue it for after this turn"], ["Shift+Enter", "New line"], ["↑ ↓", "What you wrote before"], ["@", "Name a file"], ["/", "Commands; outside the prompt: to the prompt"], ["!", "Run a command of your own"], ["Esc Esc", "Stop the turn"]]
    .concat(rowKeys, actions.filter((a) => a.key).map((a) => [a.key, a.title])).flatMap(([k, t]) => [make("dt", {}, ...k.split(" ").flatMap((one, i) => [i ? " " : "", make("kbd", {}, one)])), make("dd", {}, t)]))]);
  const next = (by) => {
    const all = [...document.querySelectorAll("#list [data-session]")].map((a) => a.dataset.session), at = all.indexOf(app.id());
    if (all.length) app.go(all[(at + by + all.length) % all.length]);
  };
  const question = () => { const q = document.querySelector("form.ask"); q?.scrollIntoView({ block: "center" }); q?.querySelector("button.main")?.focus(); };
  const actions = [
    { name: "palette", title: "All that can be done", key: "Ctrl+K", code: "KeyK", ctrl: true, run: () => dialog.choose("All that can be done", actions.filter((a) => a.name !== "palette" && (!a.when || a.when())).map((a) => ({ name: a.title, side: a.key, value: a })), (r) => app.doing(r.value.run()), { placeholder: "What do you want to do?" }) },
    { name: "new", title: "New session", key: "Alt+N", code: "KeyN", slash: true, run: () => app.go("") },
    { name: "overview", title: "Overview of all sessions", key: "Alt+O", code: "KeyO", slash: true, run: () => app.go("") },
    { name: "search", title: "Search sessions", key: "Alt+S", code: "KeyS", slash: true, run: search },
    { name: "list", title: "To the list of sessions", key: "Alt+L", code: "KeyL", run: app.list },
    { name: "group", title: "Group the list by folder, or by what sessions do", key: "Alt+G", code: "KeyG", slash: true, run: group },
    { name: "folder", title: "Choose the folder of a new session", key: "Alt+F", code: "KeyF", when: () => !session() && app.folders().length > 1, run: () => dialog.choose("Folder of the new session", app.folders().map((dir, i) => ({ name: dir, about: i ? "It works in the background there" : "It works here", value: dir, now: dir === app.folder() })), (r) => app.within(r.value)) },
    { name: "next", title: "Next session", key: "Alt+J", code: "KeyJ", run: () => next(1) },
    { name: "before", title: "Session before", key: "Alt+K", code: "KeyK", run: () => next(-1) },
    { name: "question", title: "To the question that waits", key: "Alt+A", code: "KeyA", run: question },
    { name: "model", title: "Choose the model", key: "Alt+M", code: "KeyM", slash: true, run: pickModel },
    { name: "mode", title: "Choose what it may do without asking", key: "Alt+P", code: "KeyP", slash: true, run: () => pickOf("What it may do without asking", "mode", "modes") },
    { name: "effort", title: "Choose how hard the model thinks", key: "Alt+E", code: "KeyE", slash: true, run: () => pickOf("How hard the model thinks", "effort", "efforts") },
    { name: "review", title: "Review changes", key: "Alt+R", code: "KeyR", slash: true, when: session, run: () => review(app.id(), "session", app) },
    { name: "undo", title: "Undo the files of the last turn", key: "Alt+U", code: "KeyU", slash: true, when: session, run: () => undo(app.id(), app) },
    { name: "rewind", title: "Take the last prompt back, to write it anew", slash: true, when: session, run: async () => { const of = app.id(), r = await act(of, "rewind"); composer.give({ text: r.text ?? "", files: [] }, of); } },
    { name: "again", title: "Make the last answer again", slash: true, when: session, run: () => act(app.id(), "again") },
    { name: "compact", title: "Sum up the conversation to make room", slash: true, when: session, run: () => act(app.id(), "compact") },
    { name: "rename", title: "Rename this session", slash: true, when: session, run: () => rename(app.id(), document.getElementById("title").textContent) },
    { name: "fork", title: "Fork this session", slash: true, when: session, run: async () => { const of = app.id(); app.went((await act(of, "fork")).id, of); } },
    { name: "export", title: "Export as Markdown", slash: true, when: session, run: () => save("md") },
    { name: "export-html", title: "Export as a page", when: session, run: () => save("html") },
    { name: "export-json", title: "Export as JSON", when: session, run: () => save("json") },
    { name: "up", title: "Prompt before", key: "Alt+↑", code: "ArrowUp", run: () => step(-1) },
    { name: "down", title: "Next prompt", key: "Alt+↓", code: "ArrowDown", run: () => step(1) },
    { name: "latest", title: "To the newest", key: "Alt+End", code: "End", run: toEnd },
    { name: "stop", title: "Stop the turn", key: "Alt+X", code: "KeyX", slash: true, when: session, run: () => act(app.id(), "stop") },
    { name: "side", title: "Show or hide the list of sessions", key: "Alt+B", code: "KeyB", run: app.side },
    { name: "theme", title: "Theme: system, light, dark", key: "Alt+T", code: "KeyT", slash: true, run: app.theme },
    { name: "notify", title: "Be told when a session needs you", slash: true, run: app.notify },
    { name: "keys", title: "List of keys", key: "?", slash: true, run: keys },
    { name: "attach", title: "Attach a file", run: () => document.getElementById("pick").click() },
  ];
  return actions;
}
