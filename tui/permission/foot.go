package permission

import (
	"adze/internal/text/safeterm"
	"adze/tui/draw"
)

// foot is what stands below the question in any case: the keys, or the reason that is written.
func (p *Dialog) foot(w int) []draw.Row {
	if p.step == AtReason {
		return make([]draw.Row, 1)
	}
	return p.choices(w)
}

// named is a key with what it does; brief is for narrow windows.
type named struct{ key, word, brief string }

// answers are the keys of the step.
func (p *Dialog) answers() []named {
	k := p.keys
	switch p.step {
	case AtText:
		return []named{{k.Send, "run this", "run"}, {k.Line, "new line", "line"}, {k.Back, "back", "back"}}
	case AtHunks:
		all := []named{{k.Next, "next hunk", "next"}, {k.Flip + ":", "keep / drop", "keep / drop"}, {k.Send, "answer", "answer"}}
		if len(p.refused()) > 0 {
			all = append(all, named{k.Why, "say why", "why"})
		}
		return append(all, named{k.Back, "back", "back"})
	}
	if p.Stage() {
		all := []named{{k.Edits, "take all", "take"}}
		if p.Parts() > 1 {
			all = append(all, named{k.Hunks, "take some", "some"})
		}
		return append(all, named{k.Drop, "drop all", "drop"}, named{k.Stop, "later", "later"})
	}
	all := []named{{k.Once, "once", "once"}}
	if p.queue[0].Edits {
		all = append(all, named{k.Edits, "all edits", "all edits"})
	}
	if p.Grants() {
		all = append(all, named{k.Session, "rule", "rule"})
	}
	if p.Saves() {
		all = append(all, named{k.Always, "keep rule", "keep rule"})
	}
	if p.Others() > 0 {
		all = append(all, named{k.Other, "other rule", "other rule"})
	}
	if p.Tries() {
		all = append(all, named{k.Try, "try it", "try"})
	}
	if p.Edits() {
		all = append(all, named{k.Change, "edit command", "edit"})
	}
	if p.Parts() > 1 {
		all = append(all, named{k.Hunks, "by hunks", "hunks"})
	}
	return append(all, named{k.No, "no", "no"}, named{k.Why, "no, say why", "no, why"}, named{k.Stop, "stop", "stop"})
}

// choices are the keys that answer, in as many rows as they need: none of them is ever out of
// sight.
func (p *Dialog) choices(w int) []draw.Row {
	rows := p.choice(false, "   ", w)
	if len(rows) > 1 {
		rows = p.choice(true, "  ", w)
	}
	if !p.Ready() { // as high as they will be
		clear(rows)
		rows[0] = p.theme.Line(draw.Dim, safeterm.Fixed("keys act in a moment…")).Fit(w)
	}
	return rows
}

func (p *Dialog) choice(brief bool, gap string, w int) (rows []draw.Row) {
	pen := p.theme.Pen()
	for _, n := range p.answers() {
		key, word := safeterm.Name(n.key), n.word
		if brief {
			word = n.brief
		}
		switch {
		case pen.Width() == 0:
		case pen.Width()+len(gap)+p.theme.Line(draw.Key, key).Width()+1+len(word) > w:
			rows = append(rows, pen.Done())
			pen = p.theme.Pen()
		default:
			pen.Fixed(draw.Plain, gap)
		}
		pen.Put(draw.Key, key).Fixed(draw.Plain, " "+word)
	}
	return append(rows, pen.Done())
}
