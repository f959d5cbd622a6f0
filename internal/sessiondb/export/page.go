package export

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"adze/internal/text/hypertext"
	"adze/tool"
)

// The page has no script, one style sheet, and a policy against fetching anything: it looks the
// same in ten years and does not reveal that it was opened. Every text of a session is escaped by
// package hypertext and placed between tags or in a double-quoted attribute; all else is written by
// this package. So html/template is not needed, with which the linker would keep every method of
// the program: 5.8 MB more of 55.9.

type web struct{ strings.Builder }

// text writes a text between tags or into a double-quoted attribute.
func (w *web) text(s string) { w.WriteString(hypertext.Plain(s)) }

// pageHead is the page up to its body, with an empty title.
//
//go:embed page.html
var pageHead string

// HTML returns the document as a page.
func (d *Document) HTML() ([]byte, error) {
	before, after, _ := strings.Cut(pageHead, "</title>")
	w := &web{}
	w.WriteString(before)
	w.text(orDash(d.Title))
	w.WriteString("</title>" + after + "<header>\n")
	w.element("h1", "", orDash(d.Title))
	w.WriteString("\n<dl>")
	for _, f := range d.facts() {
		w.element("dt", "", f.Name)
		w.element("dd", "", f.Value)
	}
	w.WriteString("</dl>\n</header>\n")
	w.contents(d.prompts())
	w.WriteString("<main>\n")
	for i, m := range d.Messages {
		w.message(i+1, m)
	}
	w.WriteString("</main>\n")
	if len(d.LeftOut) > 0 {
		w.WriteString(`<footer><h2>Left out</h2><ul class="dim">`)
		for _, what := range d.LeftOut {
			w.element("li", "", what)
		}
		w.WriteString("</ul></footer>\n")
	}
	w.WriteString("</body>\n</html>\n")
	return []byte(w.String()), nil
}

func (w *web) element(tag, class, text string) {
	w.WriteString("<" + tag)
	if class != "" {
		w.WriteString(` class="` + class + `"`)
	}
	w.WriteString(">")
	w.text(text)
	w.WriteString("</" + tag + ">")
}

func (w *web) contents(prompts []prompt) {
	if len(prompts) == 0 {
		return
	}
	w.WriteString("<nav><h2>Prompts</h2><ol>")
	for _, p := range prompts {
		fmt.Fprintf(w, `<li><a href="#m%d">`, p.Number)
		w.text(p.Text)
		w.WriteString("</a></li>")
	}
	w.WriteString("</ol></nav>\n")
}

func (w *web) message(number int, m Message) {
	class := "note"
	switch m.Speaker {
	case Person:
		class = "user"
	case Model:
		class = "assistant"
	}
	fmt.Fprintf(w, "<section id=\"m%d\" class=\"%s\">\n<h2>", number, class)
	w.text(m.heading() + " ")
	when := m.Time.UTC().Format(stamp)
	if m.Model != "" {
		when += " · " + m.Model
	}
	w.element("span", "dim", when)
	w.WriteString("</h2>\n")
	last := m.lastText()
	for n, p := range m.Parts {
		switch {
		case p.Call != nil:
			w.call(*p.Call)
		case p.Picture != nil:
			w.picture(p.Picture)
		case m.Speaker == Model:
			var marks []hypertext.Mark
			if n == last {
				marks = m.marks()
			}
			said, _ := hypertext.Prose(p.Text, marks)
			w.WriteString(`<div class="said">` + said + "</div>\n")
		default:
			w.element("pre", "typed", p.Text)
			w.WriteString("\n")
		}
	}
	if m.End != nil {
		for _, line := range slices.Concat([]string{m.End.told()}, texts(m.End.Claims), texts(m.End.Evidence)) {
			w.element("p", "dim", line)
			w.WriteString("\n")
		}
	}
	w.WriteString("</section>\n")
}

func texts[T any](values []T) (out []string) {
	for _, v := range values {
		out = append(out, fmt.Sprint(v))
	}
	return out
}

// picture writes a picture as a data URL. Its type is detected from the content, so other data is
// never embedded.
func (w *web) picture(p *Picture) {
	source := "data:,"
	if kind := hypertext.PictureType(p.Data); kind != "" {
		source = "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
	}
	w.WriteString(`<p><img src="` + source + `" alt="`)
	w.text(p.Name)
	w.WriteString(`"><br>`)
	w.element("span", "dim", fmt.Sprintf("%s, %d bytes", p.Name, len(p.Data)))
	w.WriteString("</p>\n")
}

// call writes a collapsed details element.
func (w *web) call(c Call) {
	w.WriteString("<details><summary>")
	w.element("code", "", cmp.Or(c.Heading, c.Tool))
	w.WriteString(" ")
	if c.bad() {
		w.element("span", "bad", c.told())
	} else {
		w.element("span", "dim", c.told())
	}
	w.WriteString("</summary>\n")
	w.object(c.Arguments)
	w.object(c.Metadata)
	if c.Diff != "" {
		w.WriteString(hypertext.Block(tool.Block{Kind: tool.DiffBlock, Path: strings.Join(c.Changed, " "), Text: c.Diff}))
	}
	w.WriteString("</details>\n")
}

func (w *web) object(raw json.RawMessage) {
	if len(raw) > 0 {
		w.element("pre", "", indented(raw))
		w.WriteString("\n")
	}
}

// indented formats an object with one field per line.
func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

type prompt struct {
	Number int // of the message, from 1
	Text   string
}

func (d *Document) prompts() (out []prompt) {
	for i, m := range d.Messages {
		if m.Speaker != Person || m.OwnCommand {
			continue
		}
		for _, p := range m.Parts {
			if p.Text != "" {
				line, _, _ := strings.Cut(strings.TrimSpace(p.Text), "\n")
				out = append(out, prompt{i + 1, line})
				break
			}
		}
	}
	return out
}

func (c Call) bad() bool { return c.Status != "completed" }
