// Sends a picture and a text along, has the answer made again, and prints what came of it.
const c = chat(id);
const png = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
await c.sendMessage({ text: "what is it?", files: [{ type: "file", mediaType: "image/png", filename: "dot.png", url: png }, { type: "file", mediaType: "text/plain", filename: "note.txt", url: "data:text/plain;base64,aGVsbG8K" }] });
const answers = [c.messages.at(-1).parts.find((p) => p.type === "text").text];
await c.regenerate();
answers.push(c.messages.at(-1).parts.find((p) => p.type === "text").text);
const stored = await (await fetch(base + "/api/chat/" + id, { headers })).json();
await ai.validateUIMessages({ messages: stored });
await c.sendMessage({ text: "and now?" });
await chat(id, stored).regenerate();
const late = errors.splice(0).map((e) => e.trim().replace(/^\w+: /, ""));
console.log(JSON.stringify({ errors, late, answers, count: c.messages.length, id: c.messages[1].id === stored[1].id, stored: stored.map((m) => m.parts.filter((p) => p.type !== "step-start").map((p) => [p.type, p.filename, p.mediaType, p.text].filter(Boolean).join(" "))) }));
process.exit(0);
