package export

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"adze/internal/text/markdown"
	"adze/session"
)

// Markdown returns the document for pasting into an issue or a chat. Texts are regenerated from
// their parsed form: no HTML, no pictures that a viewer would fetch, only links to the web.
func (d *Document) Markdown() []byte {
	w := &sheet{}
	w.line("# %s\n", inlineText(orDash(d.Title)))
	d.head(w)
	for _, m := range d.Messages {
		w.message(m)
	}
	d.foot(w)
	return append(bytes.TrimRight(w.Bytes(), "\n"), '\n')
}

const stamp = "2006-01-02 15:04:05 UTC"

// head writes the session's data.
func (d *Document) head(w *sheet) {
	add := func(name, value string) {
		if value != "" {
			w.line("- %s: %s", name, inlineText(value))
		}
	}
	add("Session", string(d.Session))
	add("Folder", d.Cwd)
	add("Model", d.Model)
	add("Agent", d.Agent)
	add("Begun", d.Created.UTC().Format(stamp))
	add("Last entry", d.Updated.UTC().Format(stamp))
	for _, name := range slices.Sorted(maps.Keys(d.Usage)) {
		u := d.Usage[name]
		add("Tokens", fmt.Sprintf("%s: %d in, %d out, %d from the cache", name, u.Input+u.CacheWrite, u.Output, u.CacheRead))
	}
	if i := d.Imported; i != nil {
		add("Imported", fmt.Sprintf("%s, from the session %s", i.At.UTC().Format(stamp), i.Session))
	}
	add("By", "adze "+d.Version)
	w.line("")
}

// foot counts the omitted data.
func (d *Document) foot(w *sheet) {
	if len(d.LeftOut) > 0 {
		w.line("## Left out\n")
	}
	for _, what := range d.LeftOut {
		w.line("- %s", inlineText(what))
	}
}

func orDash(text string) string {
	if strings.TrimSpace(text) == "" {
		return "—"
	}
	return text
}

type sheet struct{ bytes.Buffer }

func (w *sheet) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (m Message) heading() string {
	switch {
	case m.OwnCommand:
		return "You, by hand"
	case m.Speaker == Person:
		return "You"
	case m.Speaker == Adze:
		return "Note"
	}
	return "Assistant"
}

func (w *sheet) message(m Message) {
	w.line("## %s\n", m.heading())
	for _, p := range m.Parts {
		switch {
		case p.Call != nil:
			w.line("**Call** %s · %s\n", codeSpan(cmp.Or(p.Call.Heading, p.Call.Tool)), inlineText(p.Call.told()))
			p.Call.fields(w)
		case p.Picture != nil:
			w.line("*Picture %s, %d bytes: in the HTML and JSON forms*\n", inlineText(p.Picture.Name), len(p.Picture.Data))
		default:
			w.text(m.Speaker, p.Text)
		}
	}
	if m.End != nil {
		m.End.write(w)
	}
}

// text writes a text; only the model's is Markdown.
func (w *sheet) text(from Speaker, text string) {
	if from == Model {
		w.prose(text)
	} else {
		w.fence("text", text)
	}
}

func (e *End) write(w *sheet) {
	w.line("*%s*\n", inlineText(e.told()))
	if list := session.EvidenceText(e.Evidence, e.Claims); list != "" {
		w.line("%s", list)
	}
}

// told describes the end of a turn in one line.
func (e *End) told() string {
	words := []string{"Turn ended: " + string(e.Cause), e.Duration.Round(time.Second / 10).String()}
	if e.Cost != nil {
		words = append(words, fmt.Sprintf("$%.4f", *e.Cost))
	}
	if len(e.Changed) > 0 {
		words = append(words, "changed "+strings.Join(e.Changed, ", "))
	}
	if e.Message != "" {
		words = append(words, e.Message)
	}
	return strings.Join(words, " · ")
}

func (c Call) told() string {
	switch {
	case c.Status == "":
		return "no outcome is known"
	case c.Code != "":
		return string(c.Status) + " · " + c.Code
	}
	return string(c.Status)
}

// fields writes the shown arguments and results of a call.
func (c *Call) fields(w *sheet) {
	for _, raw := range []json.RawMessage{c.Arguments, c.Metadata} {
		var b bytes.Buffer
		if len(raw) > 0 && json.Indent(&b, raw, "", "  ") == nil {
			w.fence("json", b.String())
		}
	}
	if c.Diff != "" {
		w.fence("diff", c.Diff)
	}
}

// fence writes a code block with a fence that the text does not contain.
func (w *sheet) fence(info, text string) {
	ticks := strings.Repeat("`", max(3, longest(text, '`')+1))
	w.line("%s%s\n%s\n%s\n", ticks, info, strings.TrimSuffix(text, "\n"), ticks)
}

func longest(text string, of byte) (most int) {
	run := 0
	for i := range len(text) {
		if run++; text[i] != of {
			run = 0
		}
		most = max(most, run)
	}
	return most
}

func codeSpan(text string) string {
	ticks := strings.Repeat("`", longest(text, '`')+1)
	return ticks + " " + strings.ReplaceAll(text, "\n", " ") + " " + ticks
}

// prose writes a model's text block by block from its parsed form.
func (w *sheet) prose(text string) {
	all := markdown.Read(text)
	for i, b := range all {
		first, rest := margins(b)
		lines := strings.Split(rewritten(b), "\n")
		for i, line := range lines {
			margin := rest
			if i == 0 {
				margin = first
			}
			w.line("%s", strings.TrimRight(margin+line, " "))
		}
		if i+1 == len(all) || all[i+1].Gap || !begins(all[i+1]) {
			w.line("%s", strings.TrimRight(rest, " "))
		}
	}
}

// begins reports whether a block starts a list item.
func begins(b markdown.Block) bool {
	return len(b.In) > 0 && !b.In[len(b.In)-1].Quote && b.In[len(b.In)-1].Fresh
}

// margins returns the prefixes of a block's first line and of the others.
func margins(b markdown.Block) (first, rest string) {
	for _, c := range b.In {
		if c.Quote {
			first, rest = first+"> ", rest+"> "
			continue
		}
		mark := c.Mark() + " "
		if c.Fresh {
			first += mark
		} else {
			first += strings.Repeat(" ", len(mark))
		}
		rest += strings.Repeat(" ", len(mark))
	}
	return first, rest
}

// rewritten returns a block with literal characters escaped.
func rewritten(b markdown.Block) string {
	text := string(b.Text)
	switch b.Kind {
	case markdown.Code:
		var w sheet
		w.fence(strings.Map(plainInfo, b.Info), text)
		return strings.TrimSuffix(w.String(), "\n\n")
	case markdown.Rule:
		return "---"
	case markdown.Empty:
		return ""
	}
	text = markdown.Signless(text)
	switch b.Kind {
	case markdown.Heading:
		return strings.Repeat("#", min(6, b.Level+2)) + " " + strings.ReplaceAll(harmless(text), "\n", " ")
	case markdown.HTML:
		return inlineText(text)
	case markdown.Table:
		header, rows, _ := strings.Cut(harmless(text), "\n")
		marks := map[markdown.Align]string{markdown.Left: "---|", markdown.Center: ":-:|", markdown.Right: "--:|"}
		header += "\n|"
		for _, a := range b.Align {
			header += marks[a]
		}
		return header + "\n" + rows
	}
	return harmless(text)
}

// plainInfo keeps a language name's characters.
func plainInfo(r rune) rune {
	if r == '`' || r == '~' || r < ' ' {
		return -1
	}
	return r
}
