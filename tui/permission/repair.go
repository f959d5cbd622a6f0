package permission

import (
	"fmt"
	"strings"

	"adze/internal/text/safeterm"
	"adze/tool"
	"adze/tui/draw"
	"adze/tui/ui"
)

// repairContext and repairShown limit a shown fix, in characters: the context and the difference.
// The needs and the preview show the whole call.
const (
	repairContext = 30
	repairShown   = 400
)

// repaired draws the difference between the model's text and the repaired call. Renamed fields are
// only noted.
func (p *Dialog) repaired(rows ui.RenderedPage, r *tool.Repair, w int) ui.RenderedPage {
	if r == nil {
		return rows
	}
	if !r.Guessed() {
		return p.theme.Wrap(rows, w, draw.Margins{}, draw.Span{Style: draw.Dim, Text: safeterm.Name("the model used other names" + repairSteps(r))})
	}
	before, after := differing(r.Before, string(r.After))
	for _, line := range [][2]string{{"it wrote ", before}, {"it runs  ", after}} {
		rest := p.theme.Pen().Pad(len(line[0])).Done()
		margins := draw.Margins{First: p.theme.Pen().Fixed(draw.Dim, line[0]).Done(), Continuation: rest, Hard: true}
		rows = p.theme.Wrap(rows, w, margins, draw.Span{Style: draw.Plain, Text: safeterm.Name(line[1])})
	}
	return rows
}

// repairSteps names the repairs.
func repairSteps(r *tool.Repair) string {
	if r == nil {
		return ""
	}
	return ": " + strings.NewReplacer("+", ", ", "_", " ").Replace(r.Kind)
}

// differing shortens two texts to their differing parts with some context.
func differing(a, b string) (string, string) {
	x, y := []rune(a), []rune(b)
	head, tail, most := 0, 0, min(len(x), len(y))
	for head < most && x[head] == y[head] {
		head++
	}
	for tail < most-head && x[len(x)-1-tail] == y[len(y)-1-tail] {
		tail++
	}
	head, tail = max(head-repairContext, 0), max(tail-repairContext, 0)
	return around(x, head, tail), around(y, head, tail)
}

func around(text []rune, head, tail int) string {
	end := len(text) - tail
	shown := string(text[head:end])
	if end-head > repairShown {
		half := repairShown / 2
		shown = string(text[head:head+half]) + fmt.Sprintf(" … (%d characters) … ", end-head-2*half) + string(text[end-half:end])
	}
	if head > 0 {
		shown = "…" + shown
	}
	if tail > 0 {
		shown += "…"
	}
	return strings.TrimSpace(shown)
}
