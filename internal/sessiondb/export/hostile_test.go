package export_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	renderer "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"

	"adze/internal/sessiondb/export"
	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// attacks are texts that others tried on pages made of conversations. Each one that becomes a
// page's own code names itself PWNED.
func attacks() []string {
	list := []string{
		`<script>document.title="PWNED"</script>`,
		`<img src=x onerror='document.title="PWNED"'>`,
		`<svg onload='document.title="PWNED"'><animate onbegin='document.title="PWNED"' attributeName=x dur=1s>`,
		`"><script>document.title="PWNED"</script>`,
		`' onmouseover='document.title="PWNED"' x='`,
		`</title><script>document.title="PWNED"</script>`,
		`</style><script>document.title="PWNED"</script>`,
		`</pre></code></details></textarea></template><script>document.title="PWNED"</script>`,
		`<iframe srcdoc="<script>parent.document.title='PWNED'</script>"></iframe>`,
		`<meta http-equiv=refresh content="0;url=http://ATTACKER/meta">`,
		`<link rel=stylesheet href=http://ATTACKER/style><base href=http://ATTACKER/>`,
		`<style>@import url(http://ATTACKER/import); body{background:url(http://ATTACKER/body)}</style>`,
		`<form action=http://ATTACKER/form><input autofocus onfocus='document.title="PWNED"'></form>`,
		`<object data=http://ATTACKER/object></object><embed src=http://ATTACKER/embed>`,
		`<video src=http://ATTACKER/video autoplay></video><audio src=http://ATTACKER/audio></audio>`,
		`<a href="javascript:document.title='PWNED'">x</a>`,
		`<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=document.title='PWNED'&gt;">`,
		`<noscript><p title="</noscript><img src=x onerror=document.title='PWNED'>">`,
		`[x](javascript:document.title='PWNED')`,
		`[x](JaVaScRiPt&colon;document.title='PWNED')`,
		`[x](java&#115;cript:document.title='PWNED')`,
		`[x](<javascript:document.title='PWNED'>)`,
		"[x](java\tscript:document.title='PWNED')",
		`[x](data:text/html,<script>document.title='PWNED'</script>)`,
		`[x](vbscript:msgbox) [y](file:///etc/passwd) [z](//ATTACKER/rel)`,
		`[x](http://ATTACKER/" onclick="document.title='PWNED')`,
		`[x](http://ATTACKER/a'onclick='b "title" onx=y)`,
		`![x](http://ATTACKER/image.png) ![y](javascript:alert(1)) ![z](data:image/svg+xml,<svg/onload=alert(1)>)`,
		"[ref]\n\n[ref]: javascript:document.title='PWNED'",
		`<javascript:document.title='PWNED'>`,
		"```\"><script>document.title=\"PWNED\"</script>\ncode </code></pre><script>document.title=\"PWNED\"</script>\n```",
		"1. x\n   ```\n<script>document.title=\"PWNED\"</script>\n   ```",
		"> ```\n<script>document.title=\"PWNED\"</script>",
		"- a\n\n      <script>document.title=\"PWNED\"</script>",
		"`` ` `` <script>document.title=\"PWNED\"</script> `",
		"`a\n\n<script>document.title=\"PWNED\"</script>`",
		"| a | b |\n|---|---|\n| <script>document.title=\"PWNED\"</script> | `|<img src=x onerror=document.title='PWNED'>` |",
		"<div>\n<script>document.title=\"PWNED\"</script>\n</div>\n\n<!-- --><script>document.title=\"PWNED\"</script>",
		"{{.}} {{template \"call\"}} ${document.title='PWNED'} <%= x %>",
		"\x1b[31mred\x1b[0m \x1b]8;;http://ATTACKER/osc\x07link\x1b]8;;\x07 \x1b]52;c;cHduZWQ=\x07 \x9b31m",
		"safe\u202e}gnp.exe\u2066 a\u200bb \U000e0041\U000e0042 \ufeff",
		"\x00<scr\x00ipt>document.title=\"PWNED\"</scr\x00ipt>",
		"<scr\u200bipt>document.title=\"PWNED\"</scr\u200bipt>", // becomes a tag when what has no width is dropped
		"\xff\xfe<script>", "+ADw-script+AD4-alert(1)+ADw-/script+AD4-", "&lt;script&gt;document.title=&quot;PWNED&quot;&lt;/script&gt;",
	}
	return list
}

// hostile is a session with an attack wherever a text can stand.
func hostile(t *testing.T, attack string) []session.Entry {
	l := &log{t: t}
	quoted := func(s string) string { raw, _ := json.Marshal(s); return string(raw) }
	l.add(session.StartEntry, session.Start{Version: attack, Cwd: attack, Model: attack, Lead: attack, Agent: attack, Parent: session.ID(attack),
		Imported: &session.Import{Session: session.ID(attack), Title: attack, Cwd: attack, SHA256: attack, LeftOut: []string{attack}}})
	l.says(session.User, attack, session.Part{Kind: session.AttachmentPart, Attachment: &tool.Attachment{Name: attack, MediaType: attack, Data: []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`)}})
	l.add(session.NoteEntry, session.Message{ID: attack, Role: session.User, Note: true, Notes: []session.Note{{Kind: session.NoteKind(attack), Source: attack}}, Parts: []session.Part{{Kind: session.TextPart, Text: attack}}})
	m := session.Message{ID: "x" + attack, Role: session.Assistant, Provider: attack, Model: attack, Stop: session.Stop(attack), Usage: &session.Usage{Input: 1},
		Parts: []session.Part{{Kind: session.TextPart, Text: attack}, calling("1"+attack, attack, attack), calling("2"+attack, "shell", "{}")}}
	l.add(session.MessageEntry, m)
	l.came(m.ID, "1"+attack, attack, `{}`, `{}`, attack)
	fields := fmt.Sprintf(`{%s:%s,"command":%s,"path":%s,"diff":%s,"exit":{%s:[%s]}}`, quoted(attack), quoted(attack), quoted(attack), quoted(attack), quoted("+"+attack), quoted(attack), quoted(attack))
	l.came(m.ID, "2"+attack, "shell", fields, fields, attack)
	l.add(session.MessageEntry, session.Message{ID: "y" + attack, Role: session.Assistant, Parts: []session.Part{calling("3"+attack, "edit", "{}")}})
	l.came("y"+attack, "3"+attack, "edit", fields, fields, attack)
	l.add(session.MessageEntry, session.Message{ID: "role", Role: session.Role(attack), Parts: []session.Part{{Kind: session.TextPart, Text: attack}}})
	l.add(session.EndEntry, session.Result{Cause: session.Cause(attack), Message: attack, Changed: []string{attack}})
	return l.entries
}

func hostileForms(t *testing.T, attack string) map[string]string {
	return forms(t, export.FromLog(hostile(t, attack), export.Options{Session: session.ID(attack), Title: attack, Tools: tools{}, Mask: &redact.Masker{}}))
}

// The page holds no element and no attribute but those of its template and of Markdown, whatever
// stands in a session.
func TestPageHasNoElementsOfOthers(t *testing.T) {
	elements := strings.Fields("html head meta link title style body header h1 h2 h3 h4 h5 h6 dl dt dd nav ol ul li a main section span p pre code div details summary footer blockquote table thead tbody tr th td hr br strong em s img")
	attributes := strings.Fields("lang charset http-equiv content name rel href id class alt src data-n data-lines")
	for _, attack := range attacks() {
		page := hostileForms(t, attack)["html"]
		root, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		for n := range root.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			if !slices.Contains(elements, n.Data) {
				t.Errorf("%q became the element %s", attack, n.Data)
			}
			for _, a := range n.Attr {
				if !slices.Contains(attributes, a.Key) {
					t.Errorf("%q became the attribute %s of %s", attack, a.Key, n.Data)
				}
				checkAddress(t, attack, n.Data, a)
			}
		}
	}
}

func checkAddress(t *testing.T, attack, element string, a html.Attribute) {
	switch {
	case a.Key == "src" && !strings.HasPrefix(a.Val, "data:image/") && a.Val != "data:,":
		t.Errorf("%q is fetched from %s", attack, a.Val)
	case a.Key == "href" && element == "link" && a.Val != "data:,":
		t.Errorf("%q is linked to %s", attack, a.Val)
	case a.Key == "href" && element == "a" && !strings.HasPrefix(a.Val, "#m") && !strings.HasPrefix(a.Val, "http://") && !strings.HasPrefix(a.Val, "https://"):
		t.Errorf("%q leads to %s", attack, a.Val)
	case a.Key == "id" && strings.Trim(a.Val, "m0123456789") != "":
		t.Errorf("%q is the id %s", attack, a.Val)
	}
}

// No form holds a character that a terminal obeys or that misleads a reader, but for what an emoji
// is made of.
func TestNoFormHoldsControls(t *testing.T) {
	for _, attack := range attacks() {
		for name, text := range hostileForms(t, attack) {
			for _, r := range text {
				if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || r == 0x200b || r == 0xfeff || r >= 0xe0000 && r <= 0xe0fff {
					t.Errorf("%s of %q has %U", name, attack, r)
					break
				}
			}
		}
	}
}

// Whatever a log holds, what is exported of it can be read, and is exported as it was.
func TestHostileRoundTrip(t *testing.T) {
	for _, attack := range attacks() {
		first := of(hostile(t, attack))
		first.Imported = nil
		again := imported(t, first)
		again.Imported, again.Session = nil, first.Session
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("%q (-first +imported):\n%s", attack, diff)
		}
	}
}

// Read as Markdown with HTML in it, the Markdown form has nothing that a viewer would run or fetch.
func TestMarkdownIsHarmless(t *testing.T) {
	for _, attack := range attacks() {
		md := hostileForms(t, attack)["md"]
		page := renderMarkdown(t, md)
		root, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		for n := range root.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			if slices.Contains(strings.Fields("script img svg iframe object embed video audio style link meta base form input math noscript div animate"), n.Data) {
				t.Errorf("%q became %s in\n%s", attack, n.Data, md)
			}
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "href" && !strings.HasPrefix(a.Val, "http://") && !strings.HasPrefix(a.Val, "https://") {
					t.Errorf("%q became %s=%q in\n%s", attack, a.Key, a.Val, md)
				}
			}
		}
	}
}

// renderMarkdown is what a viewer makes of Markdown that lets HTML and every address through.
func renderMarkdown(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	viewer := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(renderer.WithUnsafe()))
	if err := viewer.Convert([]byte(text), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
