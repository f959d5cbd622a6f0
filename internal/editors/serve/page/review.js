// Changes by hunk, and what an undo would do.
import { fragment, make } from "./html.js";
import { act, get } from "./net.js";
import { close, open } from "./dialog.js";

const moments = [["session", "This session"], ["turn", "The last turn"], ["branch", "This branch"]];

export function review(id, since, app) {
  const problem = make("p", { class: "problem", role: "alert" });
  const body = make("div", {});
  const tabs = make("p", { class: "acts" }, ...moments.map(([name, title]) => make("button", { type: "button", class: name === since ? "main" : "", "aria-pressed": String(name === since), onclick: () => review(id, name, app) }, title)));
  const keep = make("p", { class: "acts" }, make("button", { type: "button", class: "main", onclick: async (e) => {
    e.target.disabled = true;
    try { await act(id, "reviewed"); close(body); app.tell("Reviewed: all of it is kept."); } catch (err) { problem.textContent = err.message; e.target.disabled = false; }
  } }, "Keep all of it"));
  open("Changes", [tabs, problem, body, keep], { big: true });
  const draw = async () => {
    try {
      const got = await get(`page/${encodeURIComponent(id)}/changes?since=${since}`);
      body.replaceChildren(make("p", { class: "dim" }, got.files ? `${got.files} ${got.files === 1 ? "file differs" : "files differ"} from ${got.from}` : "Nothing differs from " + (got.from || "then") + "."), fragment(got.html));
    } catch (e) { problem.textContent = e.message; }
  };
  body.addEventListener("click", async (e) => {
    const button = e.target.closest("[data-act]"), hunk = button?.closest("[data-hash]");
    if (!hunk) return;
    button.disabled = true;
    problem.textContent = "";
    try {
      await act(id, button.dataset.act, { since, file: hunk.dataset.file, hunk: Number(hunk.dataset.hunk), hash: hunk.dataset.hash });
      hunk.querySelector(".acts").replaceChildren(make("span", { class: "dim", role: "status" }, button.dataset.act === "revert" ? "It is taken back; the conversation shows the call." : "It is staged; the conversation shows the call."));
    } catch (err) { problem.textContent = err.message; button.disabled = false; }
  });
  draw();
}

// undo shows what would be put back, and does that, or shows what it is by now. What changed while a
// command ran, perhaps by somebody else, is put back only if unknown is true; a button shows that plan.
export async function undo(id, app, changed = "", unknown = false) {
  const plan = await act(id, "undo", { dry: true, unknown });
  if (id !== app.id()) return;
  if (!plan.Turns?.length) { if (changed) close(); app.tell("There is nothing to undo."); return; }
  const go = make("button", { type: "button", class: "main", onclick: async () => {
    go.disabled = true;
    try { const came = await act(id, "undo", { plan: plan.Plan, unknown }); close(go); app.tell(`Put back: ${came.Paths?.length === 1 ? "1 file" : (came.Paths?.length ?? 0) + " files"}.`); } catch (e) {
      problem.textContent = e.message; go.disabled = false;
      if (e.status === 409 && go.isConnected) await undo(id, app, e.message, unknown).catch(() => {}); // the plan may be another one by now
    }
  } }, "Put these files back");
  const also = make("button", { type: "button", onclick: () => undo(id, app, "", true).catch((e) => { problem.textContent = e.message; }) }, "Show with files that somebody else may have changed");
  const buttons = [...(plan.Paths?.length || !plan.Asks ? [go] : []), ...(plan.Asks && !unknown ? [also] : [])];
  const problem = make("p", { class: "problem", role: "alert" }, changed);
  const rows = (all) => make("ul", { class: "items" }, ...(all ?? []).map((p) => make("li", {}, p)));
  open("Undo: " + plan.Turns[0], [make("p", {}, "Files are put back as they were before the turn; the conversation stays."), rows(plan.Paths), ...(plan.Left?.length ? [make("p", { class: "dim" }, "Left as they are:"), rows(plan.Left)] : []), problem, make("p", { class: "acts" }, ...buttons)]);
  buttons[0]?.focus();
}
