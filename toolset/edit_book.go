package toolset

import (
	"slices"
	"strings"

	"adze/internal/files/diff"
	"adze/internal/files/notebook"
	"adze/internal/files/textedit"
	"adze/internal/files/workspace"
	"adze/tool"
)

// asWritten reports whether the edits are for a notebook's JSON: each text is in the file, and one
// of them in no cell.
func asWritten(edits []textedit.Edit, c content) bool {
	inCells := !slices.ContainsFunc(edits, func(e textedit.Edit) bool { return !strings.Contains(c.book.Text, e.Old) })
	inFile := !slices.ContainsFunc(edits, func(e textedit.Edit) bool { return !strings.Contains(c.text, e.Old) })
	return inFile && !inCells
}

// planBook finds the places in a notebook's cells, as read shows them.
func planBook(p workspace.Path, c content, edits []textedit.Edit, src textedit.Source) (editPlan, error) {
	src.Text = c.book.Text
	if seen := bookOf(p, src.ReadText); seen != nil {
		src.ReadText = seen.Text
	}
	spans, err := textedit.Match(src, asRead(edits, src.Text))
	if err != nil {
		return editPlan{}, err
	}
	changes := make([]notebook.Change, len(spans))
	for i, s := range spans {
		changes[i] = notebook.Change{Start: s.Start, End: s.End, New: s.New}
	}
	if changes, err = c.book.Apply(changes); err != nil {
		return editPlan{}, tool.Fail(tool.CodeInvalidArguments, "%s is a notebook: %w", p.Display(), err)
	}
	inFile := make([]textedit.Span, len(changes))
	for i, change := range changes {
		inFile[i] = textedit.Span{Start: change.Start, End: change.End, New: change.New}
	}
	plan := editPlan{format: c.format, text: textedit.Apply(c.text, inFile), changed: src.Changed}
	if plan.splices, err = splicesOf(c, inFile); err != nil {
		return editPlan{}, err
	}
	plan.describe(src.Text, spans)
	after := plan.text
	if b := bookOf(p, after); b != nil {
		after = b.Text
	}
	plan.diff = diff.Unified(diff.Side{Name: p.Display(), Text: src.Text}, diff.Side{Name: p.Display(), Text: after})
	return plan, nil
}
