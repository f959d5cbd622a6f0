package permission

import (
	"adze/internal/text/safeterm"
	"adze/tui/draw"
)

// foot draws the last rows: the keys or the reason field.
func (p *Dialog) foot(w int) []draw.Row {
	if p.step == AtReason {
		return make([]draw.Row, 1)
	}
	return p.choices(w)
}

// keyHint is a key and its effect; brief is for narrow windows.
type keyHint struct{ key, word, brief string }

// answers returns the step's keys.
func (p *Dialog) answers() []keyHint {
	k := p.keys
	switch p.step {
	case AtText:
		return []keyHint{{k.Send, "run this", "run"}, {k.Line, "new line", "line"}, {k.Back, "back", "back"}}
	case AtHunks:
		all := []keyHint{{k.Next, "next hunk", "next"}, {k.Flip + ":", "keep / drop", "keep / drop"}, {k.Send, "answer", "answer"}}
		if len(p.refused()) > 0 {
			all = append(all, keyHint{k.No, "say why", "why"})
		}
		return append(all, keyHint{k.Back, "back", "back"})
	}
	if p.Stage() {
		all := []keyHint{{k.Once, "take all", "take"}}
		if p.Parts() > 1 {
			all = append(all, keyHint{k.Edit, "take some", "some"})
		}
		return append(all, keyHint{k.No, "drop all", "drop"}, keyHint{k.Stop, "later", "later"})
	}
	all := []keyHint{{k.Once, "yes", "yes"}}
	if p.Grants() {
		all = append(all, keyHint{k.All, "all like this", "all"})
	}
	if p.OtherGrants() > 0 {
		all = append(all, keyHint{k.Other, "other rule", "other"})
	}
	if p.Edits() || p.Parts() > 1 {
		all = append(all, keyHint{k.Edit, "edit", "edit"})
	}
	return append(all, keyHint{k.No, "no", "no"}, keyHint{k.Stop, "stop", "stop"})
}

// choices draws the answer keys in as many rows as they need, so that none is hidden.
func (p *Dialog) choices(w int) []draw.Row {
	rows := p.choice(false, "   ", w)
	if len(rows) > 1 {
		rows = p.choice(true, "  ", w)
	}
	if p.Wait != "" { // same height as with keys
		clear(rows)
		rows[0] = p.theme.Line(draw.Plain, safeterm.Name(p.Wait)).Fit(w)
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
