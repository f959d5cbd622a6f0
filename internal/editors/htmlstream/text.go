package htmlstream

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"adze/internal/text/hypertext"
	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// message is a model's message: runs of text and thinking.
type message struct {
	id       string
	runs     []*run
	complete bool // stored and final
	dirty    bool
}

// run is uninterrupted text or thinking.
type run struct {
	key        string
	kind       session.PartKind
	mask       *redact.Stream // sent text cannot be retracted, so a possible start of a secret is held back; nil after the end
	text       string         // without secrets
	grown      hypertext.Growing
	marks      []hypertext.Mark
	pieceCount int           // number of pieces
	took       time.Duration // duration of thinking in a stored message; 0 if unknown
}

// says adds a piece of an incomplete message.
func (v *View) says(id string, kind session.PartKind, text string) {
	m := v.texts[id]
	if m == nil {
		m = &message{id: id}
		v.texts[id] = m
	}
	if m.complete || text == "" {
		return
	}
	var r *run
	if n := len(m.runs); n > 0 && m.runs[n-1].kind == kind {
		r = m.runs[n-1]
	} else {
		m.rest()
		r = m.add(kind)
	}
	if r.mask == nil {
		r.mask = v.options.Mask().Stream()
	}
	v.facts.Activity = "writing"
	if kind == session.ReasoningPart {
		v.facts.Activity = "thinking"
	}
	r.text += r.mask.Write(text)
	m.dirty = true
}

func (m *message) add(kind session.PartKind) *run {
	r := &run{key: "text " + m.id + " " + strconv.Itoa(len(m.runs)), kind: kind}
	m.runs = append(m.runs, r)
	return r
}

// rest ends the open run.
func (m *message) rest() {
	if n := len(m.runs); n > 0 && m.runs[n-1].mask != nil {
		r := m.runs[n-1]
		r.text += r.mask.End()
		r.mask = nil
	}
}

// message handles a stored message.
func (v *View) message(m session.Message) {
	switch {
	case m.Role == session.Assistant:
		v.whole(m)
	case m.Role != session.User || m.Note || m.OwnCall != "":
	case m.Summary:
		v.note("the beginning of the conversation was summed up")
	case m.Meanwhile:
		v.person(m, "you meanwhile")
	case v.pieces[ID("prompt "+m.ID)] == nil:
		v.begin(m.ID)
		v.person(m, "you")
	}
}

// person shows the user's text and attachments.
func (v *View) person(m session.Message, class string) {
	v.AppendHTML("prompt "+m.ID, func(id string) string {
		var b strings.Builder
		b.WriteString(`<div class="b ` + class + `" id="` + id + `"><h2 class="unseen">You</h2><div class="said">` + hypertext.Words(v.text(strings.TrimSpace(m.Text()))) + "</div>")
		for _, p := range m.Parts {
			if p.Attachment != nil {
				b.WriteString(v.attachment(*p.Attachment))
			}
		}
		b.WriteString("</div>")
		return b.String()
	})
}

// maxPicture limits a picture sent to a page, in bytes.
const maxPicture = 3 << 20

// attachment returns a picture, or another file's name.
func (v *View) attachment(a tool.Attachment) string {
	name := hypertext.Escape(v.text(a.Name))
	if kind := hypertext.PictureType(a.Data); kind != "" && len(a.Data) <= maxPicture {
		return `<img class="shot" alt="` + name + `" src="data:` + kind + ";base64," + base64.StdEncoding.EncodeToString(a.Data) + `">`
	}
	return `<p class="file"><span aria-hidden="true">▤</span> ` + name + ` <span class="dim">` + size(len(a.Data)) + "</span></p>"
}

func size(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d kB", (n+1023)>>10)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// whole handles a model's stored message. Its runs replace the incomplete ones.
func (v *View) whole(m session.Message) {
	known := v.texts[m.ID]
	if known != nil && known.complete {
		return
	}
	if known != nil {
		known.rest()
	}
	now := &message{id: m.ID, complete: true, dirty: true}
	for _, p := range m.Parts {
		if p.Kind != session.TextPart && p.Kind != session.ReasoningPart || p.Text == "" {
			continue
		}
		var r *run
		if n := len(now.runs); n > 0 && now.runs[n-1].kind == p.Kind {
			r = now.runs[n-1]
		} else {
			r = now.add(p.Kind)
		}
		r.text += p.Text
	}
	for i, r := range now.runs {
		r.text = v.text(r.text)
		if known != nil && i < len(known.runs) {
			r.pieceCount = known.runs[i].pieceCount
		}
		if len(now.runs) == 1 {
			r.took = m.Duration
		}
	}
	if known != nil && len(known.runs) > len(now.runs) {
		for _, r := range known.runs[len(now.runs):] {
			r.shrink(v, 0)
		}
	}
	v.texts[m.ID] = now
	now.settle(v)
	t := v.current()
	for _, r := range now.runs {
		if r.kind == session.TextPart {
			t.last = r
		}
	}
	if m.Provider != "" || m.Model != "" {
		t.model = v.text(strings.Trim(m.Provider+"/"+m.Model, "/"))
		v.facts.Model = t.model
	}
	if m.Usage != nil {
		v.facts.Used = m.Usage.Input + m.Usage.CacheRead + m.Usage.CacheWrite + m.Usage.Output
	}
}

// settle creates the pieces of the text so far.
func (m *message) settle(v *View) {
	if !m.dirty {
		return
	}
	m.dirty = false
	for _, r := range m.runs {
		r.settle(v)
	}
}

func (r *run) settle(v *View) (left []hypertext.Mark) {
	var sections []string
	if len(r.marks) == 0 {
		sections = r.grown.Sections(r.text)
	} else {
		sections, left = hypertext.Sections(r.text, r.marks)
	}
	if r.kind == session.ReasoningPart {
		r.pieceCount = 1
		v.AppendHTML(r.key+" 0", func(id string) string { return r.thought(id, sections) })
		return left
	}
	for i, s := range sections {
		v.AppendHTML(r.key+" "+strconv.Itoa(i), func(id string) string { return `<div class="b prose" id="` + id + `">` + s + "</div>" })
	}
	r.shrink(v, len(sections))
	r.pieceCount = len(sections)
	return left
}

// shrink removes pieces beyond n.
func (r *run) shrink(v *View, n int) {
	for i := n; i < r.pieceCount; i++ {
		v.Drop(r.key + " " + strconv.Itoa(i))
	}
	r.pieceCount = n
}

// thought returns folded thinking.
func (r *run) thought(id string, sections []string) string {
	title, class := "Thought", "b think"
	switch {
	case r.mask != nil:
		title, class = "Thinking…", "b think live"
	case r.took >= time.Second:
		title = "Thought for " + seconds(r.took)
	}
	return `<details class="` + class + `" id="` + id + `"><summary>` + title + `</summary><div class="prose">` + strings.Join(sections, "") + "</div></details>"
}

func seconds(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

// retry removes an incomplete message whose request failed.
func (v *View) retry(r session.Retry) {
	if m := v.texts[r.Message]; m != nil && !m.complete {
		for _, run := range m.runs {
			run.shrink(v, 0)
		}
		delete(v.texts, r.Message)
	}
	for id, c := range v.calls {
		if c.message == r.Message && c.state == "forming" && r.Message != "" {
			v.Drop(callKey(id))
			delete(v.calls, id)
		}
	}
	of := ""
	if r.Of > 0 {
		of = fmt.Sprintf(" (attempt %d of %d)", r.Attempt, r.Of)
	}
	v.note("The request failed and is made again" + of + ": " + r.Cause)
}
