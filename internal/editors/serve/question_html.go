package serve

import (
	"fmt"
	"strconv"
	"strings"

	"adze/internal/text/hypertext"
	"adze/tool"
)

func (t *watcher) question(it item) {
	q := it.question
	key := "question " + q.ID
	if it.answered != "" {
		t.view.Waits(q.Call, false)
		says := "You answered: "
		if q.elsewhere {
			says = "Answered "
		}
		t.view.AppendHTML(key, func(id string) string {
			return `<p class="b note answered" id="` + id + `">` + says + hypertext.Words(brief(t.clean(it.answered), 300)) + "</p>"
		})
		return
	}
	t.view.Waits(q.Call, true)
	t.view.AppendHTML(key, func(id string) string {
		if q.ask != nil {
			return t.permission(id, q)
		}
		return t.inquiry(id, q)
	})
}

func (t *watcher) clean(text string) string { return t.mask().Text(text) }

func (t *watcher) escape(text string) string { return hypertext.Plain(t.clean(text)) }

// asking starts a question.
func asking(b *strings.Builder, id, question, title string) {
	b.WriteString(`<form class="b ask" id="` + id + `" data-question="` + hypertext.Escape(question) + `" aria-labelledby="` + id + `t"><h3 id="` + id + `t">` + title + "</h3>")
}

// verbs maps permissions to the verbs of their questions.
var verbs = map[tool.Permission]string{tool.Write: "Change", tool.Read: "Read", tool.Network: "Reach"}

// permission returns a permission question: the full action, and the offered answers.
func (t *watcher) permission(id string, w *openQuestion) string {
	var b strings.Builder
	a := w.ask
	title := "Allow " + t.escape(w.Tool)
	if w.Agent != "" {
		title += " of the subagent " + t.escape(w.Agent)
	}
	asking(&b, id, w.ID, title+"?")
	if w.Text != "" {
		b.WriteString(`<p class="why">` + hypertext.Words(t.clean(w.Text)) + "</p>")
	}
	b.WriteString(`<ul class="needs">`)
	for _, n := range a.Question.Needs {
		if n.Permission == tool.Execute {
			b.WriteString(`<li><pre class="cmd" tabindex="0" aria-label="The command">` + t.escape(n.Target) + "</pre>")
		} else {
			b.WriteString("<li><span>" + verbs[n.Permission] + "</span> <code>" + t.escape(n.Target) + "</code>")
		}
		if really := a.Resolved[n]; really != "" {
			b.WriteString(` <span class="dim">which is</span> <code>` + t.escape(really) + "</code>")
		}
		b.WriteString("</li>")
	}
	b.WriteString("</ul>")
	t.preview(&b, a.Preview, a.Question.WithoutHunks != nil)
	if a.Question.Editing != nil {
		b.WriteString(`<details class="edit"><summary>Change it before it runs</summary><label>Instead <textarea name="text" rows="3" spellcheck="false">` + t.escape(a.Question.Editing.Text) + "</textarea></label></details>")
	}
	t.offers(&b, w)
	b.WriteString(`<p class="acts answers"><button type="submit" class="main" name="choice" value="once">Allow once</button><button type="submit" class="no" name="choice" value="deny">Deny</button>`)
	if a.Edits {
		b.WriteString(`<button type="submit" name="choice" value="edits">Allow all edits of this session</button>`)
	}
	b.WriteString(`<label class="reason"><span>Why not</span><input name="reason" placeholder="Why not (optional)"></label></p><p class="problem" role="alert"></p></form>`)
	return b.String()
}

// preview writes the call's effect. With parts, each hunk has a checkbox.
func (t *watcher) preview(b *strings.Builder, blocks []tool.Block, parts bool) {
	count := 0
	for _, block := range blocks {
		count += len(hypertext.Hunks(block.Text))
	}
	n := 0
	for _, block := range blocks {
		hunks := hypertext.Hunks(block.Text)
		if block.Kind != tool.DiffBlock || !parts || count < 2 {
			if block.Kind == tool.DiffBlock && block.Title == "" {
				block.Title = block.Path
			}
			b.WriteString(t.view.Masked([]tool.Block{block}))
			continue
		}
		b.WriteString(`<p class="title">` + t.escape(block.Path) + "</p>")
		for _, hunk := range hunks {
			n++
			number := strconv.Itoa(n)
			b.WriteString(`<label class="hunk"><input type="checkbox" name="hunk" value="` + number + `" checked> Hunk ` + number + fmt.Sprintf(" of %d", count) + "</label>")
			b.WriteString(t.view.Masked([]tool.Block{{Kind: tool.DiffBlock, Path: block.Path, Text: hunk}}))
		}
	}
}

// offers writes the offered rules with their coverage.
func (t *watcher) offers(b *strings.Builder, w *openQuestion) {
	a := w.ask
	if len(a.Offers) == 0 {
		if a.NoOffer != "" {
			b.WriteString(`<p class="dim">No rule is offered: ` + hypertext.Words(t.clean(a.NoOffer)) + "</p>")
		}
		return
	}
	saves := false
	b.WriteString(`<details class="rules"><summary>Allow it as a rule</summary><fieldset><legend>The rule</legend>`)
	for i, o := range a.Offers {
		checked := ""
		if i == a.Usual {
			checked = " checked"
		}
		saves = saves || o.Save != ""
		b.WriteString(`<label><input type="radio" name="offer" value="` + strconv.Itoa(i) + `"` + checked + `> <code>` + t.escape(o.Rule) + "</code>")
		for _, line := range []struct{ word, text string }{{"Covers ", o.Covers}, {"Still asked: ", o.Spares}, {"Once kept: ", o.Saved}} {
			if line.text != "" {
				b.WriteString(`<span class="dim">` + line.word + hypertext.Words(t.clean(line.text)) + "</span>")
			}
		}
		b.WriteString("</label>")
	}
	b.WriteString(`</fieldset><p class="acts"><button type="submit" name="choice" value="session">For this session</button>`)
	if saves {
		b.WriteString(`<button type="submit" name="choice" value="always">From now on</button>`)
	}
	b.WriteString("</p></details>")
}

// inquiry returns a question of the model, or its plan.
func (t *watcher) inquiry(id string, q *openQuestion) string {
	var b strings.Builder
	title := "A question for you"
	if q.inquiry.Title != "" {
		title = strings.ToUpper(q.inquiry.Title[:1]) + q.inquiry.Title[1:]
	}
	if q.Agent != "" {
		title += " from " + q.Agent
	}
	asking(&b, id, q.ID, t.escape(title))
	prose, _ := hypertext.Prose(t.clean(q.Text), nil)
	b.WriteString(`<div class="prose">` + prose + `</div><p class="acts">`)
	for i, c := range q.Choices {
		class := ""
		if i == 0 {
			class = ` class="main"`
		}
		b.WriteString(`<button type="submit"` + class + ` name="words" value="` + t.escape(c) + `">` + t.escape(c) + "</button>")
	}
	b.WriteString(`</p><label class="reason"><span>Your own answer</span><textarea name="own" rows="2" placeholder="Your own answer"></textarea></label><p class="acts"><button type="submit" name="words" value="">Send this answer</button></p><p class="problem" role="alert"></p></form>`)
	return b.String()
}
