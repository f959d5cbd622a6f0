// Questions: each is a form of its own, and is answered once.
import { rest } from "./composer.js";
import { isOpen } from "./dialog.js";
import { act } from "./net.js";

// Enter in a field presses no button of its own choice: the browser would take the first, which
// allows. A reason that was written is one against it.
document.addEventListener("keydown", (e) => {
  const form = e.target.closest?.("form.ask");
  if (!form || e.key !== "Enter" || e.isComposing || e.target.nodeName !== "INPUT") return;
  e.preventDefault();
  if (e.target.name === "reason" && e.target.value.trim()) form.querySelector("[value=deny]")?.click();
});

export async function answer(id, form, button) {
  const field = (name) => form.querySelector(`[name=${name}]`);
  const body = { question: form.dataset.question };
  if (button.name === "words") body.text = button.value || field("own").value;
  else {
    body.choice = button.value;
    body.reason = button.value === "deny" || form.querySelector("[name=hunk]:not(:checked)") ? field("reason")?.value ?? "" : "";
    body.offer = Number(form.querySelector("[name=offer]:checked")?.value ?? 0);
    const changed = field("text");
    if (button.value === "once" && changed && changed.value !== changed.defaultValue) body.text = changed.value;
    if (button.value === "once") {
      body.refused = [...form.querySelectorAll("[name=hunk]:not(:checked)")].map((e) => Number(e.value));
      if (body.refused.length && body.refused.length === form.querySelectorAll("[name=hunk]").length) { body.choice = "deny"; body.refused = []; }
    }
  }
  const problem = form.querySelector(".problem");
  problem.textContent = "";
  if (button.name === "words" && !body.text.trim()) { problem.textContent = "Write an answer first."; field("own").focus(); return; }
  const all = [...form.querySelectorAll("button")];
  for (const b of all) b.disabled = true;
  const away = () => isOpen() || document.activeElement !== document.body && !form.contains(document.activeElement);
  try { await act(id, "answer", body); if (!away()) rest(); } catch (e) {
    problem.textContent = e.message;
    for (const b of all) b.disabled = false;
  }
}
