package toolset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"adze/internal/files/diff"
	"adze/internal/files/textedit"
	"adze/internal/files/workspace"
	"adze/internal/text"
	"adze/tool"
)

const (
	diffMargin = 2 << 10   // context bytes around a shown place
	diffWindow = 256 << 10 // bytes in one shown piece
)

type largeHit struct {
	textedit.Hit
	edit int
	size int64
	data []byte
}

// planLarge finds exact matches in a large file without loading it. found is false if an edit has
// no exact match or the encoding needs decoding: then the whole file is needed.
func planLarge(ctx context.Context, o *workspace.Opened, p workspace.Path, edits []textedit.Edit, know knowledge) (plan editPlan, found bool, err error) {
	head, err := o.Head(64 << 10)
	if err != nil {
		return plan, false, err
	}
	format := text.Detect(head)
	if kind := text.Sniff(head); !kind.Text {
		return plan, false, binary(p, kind)
	}
	if format.Encoding != text.UTF8 {
		return plan, false, nil
	}
	if err := errors.Join(omitted(edits, ""), hiddenLarge(edits)); err != nil {
		return plan, false, err
	}
	var hits []largeHit
	for i, e := range edits {
		some, err := scanLarge(ctx, o, p, e, label(i, len(edits)), format)
		if err != nil || len(some) == 0 {
			return plan, false, err
		}
		for _, h := range some {
			h.edit = i
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(a, b largeHit) int { return int(a.Offset - b.Offset) })
	if err := overlapping(p, hits); err != nil {
		return plan, false, err
	}
	plan = editPlan{format: format, changed: know.read && !know.state.SameContent(o.State(nil))}
	for _, h := range hits {
		plan.splices = append(plan.splices, workspace.Splice{Offset: h.Offset, Len: h.size, Data: h.data})
		plan.lines = append(plan.lines, h.Line+1)
	}
	plan.diff, err = diffLarge(o, p, hits)
	return plan, true, err
}

func label(i, n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf("edit %d: ", i+1)
}

// scanLarge searches one edit's old text, as written or with the file's line ends.
func scanLarge(ctx context.Context, o *workspace.Opened, p workspace.Path, e textedit.Edit, label string, f text.Format) ([]largeHit, error) {
	if e.Old == "" || e.Old == e.New {
		return nil, nil // planWhole reports it
	}
	spelt := func(s string) string {
		if f.EOL == text.CRLF {
			return text.WithNewlines(s, f.Newline)
		}
		return s
	}
	for _, old := range slices.Compact([]string{e.Old, spelt(e.Old)}) {
		hits, err := textedit.Scan(ctx, o, []byte(old), 1)
		if err != nil {
			return nil, err
		}
		if len(hits) > 1 && !e.All {
			var lines []int
			for _, h := range hits {
				lines = append(lines, h.Line+1)
			}
			return nil, refusedMany(p, label, lines)
		}
		var out []largeHit
		end := int64(-1)
		for _, h := range hits {
			if h.Offset >= end {
				end = h.Offset + int64(len(old))
				out = append(out, largeHit{Hit: h, size: int64(len(old)), data: []byte(spelt(e.New))})
			}
		}
		if len(out) > 0 {
			return out, nil
		}
	}
	return nil, nil
}

func overlapping(p workspace.Path, hits []largeHit) error {
	for i := 1; i < len(hits); i++ {
		if hits[i].Offset < hits[i-1].Offset+hits[i-1].size {
			return tool.Fail(tool.CodeInvalidArguments, "edits %d and %d overlap at line %d of %s; make them one edit",
				hits[i-1].edit+1, hits[i].edit+1, hits[i].Line+1, p.Display())
		}
	}
	return nil
}

// diffLarge shows the places with their context, reading no more than that.
func diffLarge(o *workspace.Opened, p workspace.Path, hits []largeHit) (diff.Diff, error) {
	var whole diff.Diff
	shift := 0
	for len(hits) > 0 {
		n := 1
		for n < len(hits) && hits[n].Offset-hits[n-1].Offset < diffMargin && hits[n].Offset-hits[0].Offset < diffWindow {
			n++
		}
		d, err := diffPiece(o, p.Display(), hits[:n], shift)
		if err != nil {
			return whole, err
		}
		shift += d.Added - d.Removed
		whole.Added, whole.Removed = whole.Added+d.Added, whole.Removed+d.Removed
		if len(whole.Text) < diffWindow {
			if whole.Text != "" { // one file header is enough
				d.Text = d.Text[strings.Index(d.Text, "@@"):]
			}
			whole.Text += d.Text
		}
		hits = hits[n:]
	}
	return whole, nil
}

// diffPiece compares the lines around some places, before and after.
func diffPiece(o *workspace.Opened, name string, hits []largeHit, shift int) (diff.Diff, error) {
	last := hits[len(hits)-1]
	from := max(0, hits[0].Offset-diffMargin)
	to := min(o.Size(), last.Offset+last.size+diffMargin)
	buf := make([]byte, to-from)
	if _, err := o.ReadAt(buf, from); err != nil && !errors.Is(err, io.EOF) {
		return diff.Diff{}, err
	}
	old := string(buf)
	if to < o.Size() { // end with a whole line
		if i := strings.LastIndexByte(old[last.Offset+last.size-from:], '\n'); i >= 0 {
			old = old[:int(last.Offset+last.size-from)+i+1]
		}
	}
	if i := strings.IndexByte(old[:hits[0].Offset-from], '\n'); from > 0 && i >= 0 { // start with a whole line
		old, from = old[i+1:], from+int64(i+1)
	}
	var next strings.Builder
	at := 0
	for _, h := range hits {
		start := int(h.Offset - from)
		next.WriteString(old[at:start])
		next.Write(h.data)
		at = start + int(h.size)
	}
	next.WriteString(old[at:])
	skip := hits[0].Line - strings.Count(old[:hits[0].Offset-from], "\n")
	return diff.Unified(diff.Side{Name: name, Text: old, Skip: skip}, diff.Side{Name: name, Text: next.String(), Skip: skip + shift}), nil
}
