// Holds a conversation by ai 5, which knows no approvals: it asks for what it can read, and answers with data.
const transport5 = new ai.DefaultChatTransport({ api: base + "/api/chat?protocol=ai5", headers });
const c = new Chat({ id, transport: transport5, onError: (e) => errors.push(String(e)) });
const questions = () => c.messages.flatMap((m) => m.parts).filter((p) => p.type === "data-question" && !p.data.answered);
const asked = [];
const answer = async (approved, change = {}) => {
  const q = questions().find((q) => !asked.includes(q.data.toolCallId));
  const call = c.messages.flatMap((m) => m.parts).find((p) => p.toolCallId === q.data.toolCallId);
  if (!change.id) asked.push(q.data.toolCallId);
  await c.sendMessage({ parts: [{ type: "data-answer", data: { id: q.data.id, toolCallId: q.data.toolCallId, input: call.input, approved, reason: approved ? undefined : "not b", ...change } }] });
};
await c.sendMessage({ text: "write both" });
await settled(c, () => questions().length === 1);
await answer(true, { id: "approval-guessed" });
const refused = errors.splice(0);
await answer(true);
await settled(c, () => questions().some((q) => !asked.includes(q.data.toolCallId)));
await answer(false);
await settled(c, () => c.messages.at(-1).parts.some((p) => p.text === "One of two."));
const unknown = await fetch(base + "/api/chat/" + id + "/stream?protocol=ai9", { headers });
await c.sendMessage({ text: "fail" });
const stored = await (await fetch(base + "/api/chat/" + id, { headers })).json();
console.log(JSON.stringify({ refused, asked: asked.length, errors, unknown: unknown.status, texts: c.messages.flatMap((m) => m.parts).filter((p) => p.type === "text" && p.text).map((p) => p.text),
  last: stored.at(-1).parts, live: c.messages.at(-1).parts.filter((p) => p.type === "data-end") }));
process.exit(0);
