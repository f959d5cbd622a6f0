package export

import (
	"cmp"
	_ "embed"
	"encoding/base64"
	"fmt"
	"strings"

	"adze/internal/text/hypertext"
	"adze/tool"
)

// The page has no script, one style sheet, and a policy against fetching anything: it looks the
// same in ten years and does not reveal that it was opened. All texts of a session are in it as
// package hypertext renders the Markdown form. So html/template is not needed, with which the
// linker would keep every method of the program: 5.8 MB more of 55.9.

// pageHead is the page up to its body, with an empty title.
//
//go:embed page.html
var pageHead string

// HTML returns the document as a page: the Markdown form with folded calls, pictures, and the
// evidence for an answer behind its clauses.
func (d *Document) HTML() []byte {
	before, after, _ := strings.Cut(pageHead, "</title>")
	title := hypertext.Plain(orDash(d.Title))
	w := &page{}
	w.WriteString(before + title + "</title>" + after + "<header>\n<h1>" + title + "</h1>\n")
	w.render(d.head, nil)
	w.WriteString("</header>\n<main>\n")
	for _, m := range d.Messages {
		w.message(m)
	}
	w.WriteString("</main>\n<footer>\n")
	w.render(d.foot, nil)
	w.WriteString("</footer>\n</body>\n</html>\n")
	return []byte(w.String())
}

type page struct{ strings.Builder }

// render writes Markdown as HTML, with remarks.
func (w *page) render(write func(*sheet), marks []hypertext.Mark) {
	s := &sheet{}
	write(s)
	html, _ := hypertext.Prose(s.String(), marks)
	w.WriteString(html)
}

func (w *page) message(m Message) {
	class := map[Speaker]string{Person: "user", Model: "assistant"}[m.Speaker]
	when := strings.TrimSuffix(m.Time.UTC().Format(stamp)+" · "+m.Model, " · ")
	w.WriteString(`<section class="` + cmp.Or(class, "note") + "\">\n<h2>" + m.heading() + ` <span class="dim">` + hypertext.Plain(when) + "</span></h2>\n")
	for n, p := range m.Parts {
		switch {
		case p.Call != nil:
			said := map[bool]string{true: "dim", false: "bad"}[p.Call.Status == tool.Completed]
			w.WriteString("<details><summary><code>" + hypertext.Plain(cmp.Or(p.Call.Heading, p.Call.Tool)) + `</code> <span class="` + said + `">` + hypertext.Plain(p.Call.told()) + "</span></summary>\n")
			w.render(p.Call.fields, nil)
			w.WriteString("</details>\n")
		case p.Picture != nil:
			w.picture(p.Picture)
		default:
			w.render(func(s *sheet) { s.text(m.Speaker, p.Text) }, m.marks(n))
		}
	}
	if m.End != nil {
		w.render(m.End.write, nil)
	}
	w.WriteString("</section>\n")
}

// marks returns the marks after the clauses of an answer's last text, which is part n: the call
// that supports one, or that there is none.
func (m Message) marks(n int) (out []hypertext.Mark) {
	for _, p := range m.Parts[n+1:] {
		if p.Text != "" {
			return nil
		}
	}
	if m.End == nil || m.Speaker != Model {
		return nil
	}
	for _, c := range m.End.Claims {
		out = append(out, hypertext.Mark{Quote: c.Quote, Text: c.Mark()})
	}
	for _, e := range m.End.Evidence {
		out = append(out, hypertext.Mark{Quote: e.Quote, Text: e.Mark()})
	}
	return out
}

// picture writes a picture as a data URL. Its type is detected from the content, so other data is
// never embedded.
func (w *page) picture(p *Picture) {
	source := "data:,"
	if kind := hypertext.PictureType(p.Data); kind != "" {
		source = "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
	}
	name := hypertext.Plain(p.Name)
	fmt.Fprintf(w, `<p><img src="%s" alt="%s"><br><span class="dim">%s, %d bytes</span></p>`+"\n", source, name, name, len(p.Data))
}
