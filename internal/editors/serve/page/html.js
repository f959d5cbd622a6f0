// Text of the server becomes elements here and nowhere else. The server escapes what others wrote;
// this lets through only the elements and attributes that it writes; and the page's policy runs no
// script of any text. So three walls stand between a text and the page.
const policy = globalThis.trustedTypes?.createPolicy("adze", { createHTML: (text) => text }) ?? { createHTML: (text) => text };

const words = (text) => new Set(text.split(" "));
const tags = words("A BLOCKQUOTE BR BUTTON CODE DETAILS DIV EM FIELDSET FORM H2 H3 H4 H5 H6 HR IMG INPUT LABEL LEGEND LI MARK OL P PRE S SECTION SPAN STRONG SUMMARY TABLE TBODY TD TEXTAREA TH THEAD TIME TR UL");
const attributes = words("alt aria-current aria-hidden aria-label aria-labelledby checked class data-act data-call data-file data-folder data-hash data-hunk data-lines data-n data-question data-session data-since datetime href id name open placeholder rel role rows spellcheck src start tabindex target type value");
const address = { href: /^(https?:\/\/|#\/)/, src: /^data:image\/(png|jpeg|gif|webp);base64,/ };

export function fragment(text) {
  const t = document.createElement("template");
  t.innerHTML = policy.createHTML(text);
  for (const e of t.content.querySelectorAll("*")) {
    if (!tags.has(e.tagName)) { e.remove(); continue; }
    for (const a of [...e.attributes]) if (!attributes.has(a.name) || address[a.name] && !address[a.name].test(a.value)) e.removeAttribute(a.name);
  }
  for (const e of t.content.querySelectorAll("pre, .diff, .wide")) e.tabIndex = 0; // the keyboard reaches what scrolls
  for (const e of t.content.querySelectorAll("a[rel]")) e.target = "_blank";
  for (const e of t.content.querySelectorAll(".codehead")) e.append(make("button", { type: "button", class: "copy", "data-act": "copy-code" }, "Copy"));
  return t.content;
}

// make is an element with attributes, handlers and children; texts stay texts.
export function make(tag, given, ...inside) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(given ?? {})) {
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) e.setAttribute(name, value === true ? "" : value);
  }
  e.append(...inside);
  return e;
}

// morph makes an element like another one and keeps what is the same: focus, selection, scrolling,
// and what the user opened or typed stay.
export function morph(old, now) {
  if (old.nodeType !== now.nodeType || old.nodeName !== now.nodeName) { old.replaceWith(now); return now; }
  if (old.nodeType !== Node.ELEMENT_NODE) { if (old.data !== now.data) old.data = now.data; return old; }
  for (const a of [...old.attributes]) if (!now.hasAttribute(a.name) && a.name !== "open") old.removeAttribute(a.name);
  for (const a of now.attributes) if (old.getAttribute(a.name) !== a.value && a.name !== "open") old.setAttribute(a.name, a.value);
  if (old.nodeName === "TEXTAREA" || old.nodeName === "INPUT") return old;
  children(old, now);
  return old;
}

export function children(old, now) {
  let at = old.firstChild;
  for (let next of [...now.childNodes]) {
    while (at?.nodeType === Node.ELEMENT_NODE && at.dataset.own !== undefined) at = at.nextSibling; // of the page's own
    if (!at) { old.append(next); continue; }
    const after = at.nextSibling;
    morph(at, next);
    at = after;
  }
  while (at) { const next = at.nextSibling; if (at.dataset?.own === undefined) at.remove(); at = next; }
}
