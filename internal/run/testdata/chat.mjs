// Holds a conversation with adze serve and prints what came of it.
const c = chat(id);
await c.sendMessage({ text: "write both" });
const asked = [];
for (const approved of [true, false]) {
  await settled(c, () => waiting(c).length === 1);
  const [part] = waiting(c);
  asked.push(part.input.file_path);
  await c.addToolApprovalResponse({ id: part.approval.id, approved, reason: approved ? undefined : "not b" });
  await settled(c, () => !waiting(c).some((p) => p.approval.id === part.approval.id) && c.messages.at(-1).parts.every((p) => p.state !== "approval-responded"));
}
await settled(c, () => c.messages.at(-1).parts.some((p) => p.text === "One of two."));
const first = structuredClone(c.messages);

// A second tab that has read as much answers when the first has: it is late.
const transport = new ai.DefaultChatTransport({ api: base + "/api/chat", headers });
let late = "";
const answered = first.at(-1);
answered.parts = answered.parts.map((p) => (p.type === "dynamic-tool" ? { ...p, state: "approval-responded", approval: { id: p.approval?.id, approved: true } } : p));
try { await transport.sendMessages({ chatId: id, trigger: "submit-message", messages: [answered] }); } catch (e) { late = String(e.message); }

// A third follows a turn that hangs from another tab, which aborts it.
const hangs = c.sendMessage({ text: "hang" });
const history = async () => (await fetch(base + "/api/chat/" + id, { headers })).json();
let third;
for (let n = 0; n < 6000; n++) {
  third = chat(id, await history());
  if (third.messages.at(-1).role === "user" && (await fetch(base + "/api/session", { headers }).then((r) => r.json()))[0].state === "running") break;
  await new Promise((r) => setTimeout(r, 10));
}
const resumed = third.resumeStream();
for (let n = 0; n < 6000 && !third.messages.at(-1).parts.some((p) => p.type === "dynamic-tool"); n++) await new Promise((r) => setTimeout(r, 10));
await fetch(base + "/api/chat/" + id + "/stream", { method: "DELETE", headers });
await Promise.all([hangs, resumed]);
const stored = await history();
await ai.validateUIMessages({ messages: stored });
const idle = chat(id, stored);
await idle.resumeStream();
const short = (m) => ({ role: m.role, id: m.id, parts: m.parts.filter((p) => !p.type.startsWith("data-")).map((p) => [p.type, p.state, p.text ?? p.errorText ?? p.output].filter(Boolean).join(" ")) });
console.log(JSON.stringify({ errors, asked, late, messages: c.messages.map(short), third: third.messages.map(short), stored: stored.map(short), idle: idle.messages.length }));
process.exit(0);
