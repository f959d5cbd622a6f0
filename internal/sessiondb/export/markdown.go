package export

import (
	"bytes"
	"cmp"
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
	w.line("# %s", inlineText(orDash(d.Title)))
	w.line("")
	for _, f := range d.facts() {
		w.line("- %s: %s", f.Name, inlineText(f.Value))
	}
	w.line("")
	for _, m := range d.Messages {
		w.message(m)
	}
	if len(d.LeftOut) > 0 {
		w.line("## Left out\n")
		for _, what := range d.LeftOut {
			w.line("- %s", inlineText(what))
		}
	}
	return append(bytes.TrimRight(w.Bytes(), "\n"), '\n')
}

type fact struct{ Name, Value string }

const stamp = "2006-01-02 15:04:05 UTC"

// facts returns the session's data for Markdown and HTML.
func (d *Document) facts() (out []fact) {
	add := func(name, value string) {
		if value != "" {
			out = append(out, fact{name, value})
		}
	}
	add("Session", string(d.Session))
	add("Folder", d.Cwd)
	add("Model", d.Model)
	add("Agent", d.Agent)
	add("Begun", d.Created.UTC().Format(stamp))
	add("Last entry", d.Updated.UTC().Format(stamp))
	for _, name := range sortedNames(d.Usage) {
		u := d.Usage[name]
		add("Tokens", fmt.Sprintf("%s: %d in, %d out, %d from the cache", name, u.Input+u.CacheWrite, u.Output, u.CacheRead))
	}
	if i := d.Imported; i != nil {
		add("Imported", fmt.Sprintf("%s, from the session %s", i.At.UTC().Format(stamp), i.Session))
	}
	add("By", "adze "+d.Version)
	return out
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
			w.call(*p.Call)
		case p.Picture != nil:
			w.line("*Picture %s, %d bytes: in the HTML and JSON forms*\n", inlineText(p.Picture.Name), len(p.Picture.Data))
		case m.Speaker == Model:
			w.prose(p.Text)
		default: // a user's text is literal
			w.fence("text", p.Text)
		}
	}
	if m.End != nil {
		w.line("*%s*\n", inlineText(m.End.told()))
		if list := session.EvidenceText(m.End.Evidence, m.End.Claims); list != "" {
			w.line("%s", list)
		}
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

func (w *sheet) call(c Call) {
	w.line("**Call** %s · %s\n", codeSpan(cmp.Or(c.Heading, c.Tool)), inlineText(c.told()))
	if len(c.Arguments) > 0 {
		w.fence("json", indented(c.Arguments))
	}
	if len(c.Metadata) > 0 {
		w.fence("json", indented(c.Metadata))
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

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
