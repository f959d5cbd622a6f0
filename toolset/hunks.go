package toolset

import (
	"context"

	"adze/internal/files/diff"
	"adze/internal/files/workspace"
	"adze/tool"
)

// partLimit bounds, in bytes, the files of which a change is made in part: the changed call holds
// the text twice.
const partLimit = 4 << 20

// without writes the new text but for the hunks that the user refused, which stay as the file has
// them.
func (w writer) without(ctx context.Context, in writeArgs, refused []int) (writeArgs, error) {
	p, old, plan, err := w.planned(ctx, in, partLimit)
	if err != nil {
		return in, err
	}
	in.Content, err = partly(p, old.text, plan.text, refused)
	return in, err
}

// without replaces the whole text of the file by what the edits make of it but for the refused
// hunks, so that it is done only to the very text that was looked at.
func (e editor) without(ctx context.Context, in editArgs, refused []int) (editArgs, error) {
	edits, err := in.list()
	if err != nil {
		return in, err
	}
	p, err := e.root.Resolve(in.Path)
	if err != nil {
		return in, err
	}
	o, err := e.root.Open(p.Consented())
	if err != nil {
		return in, err
	}
	defer o.Close()
	old, err := load(ctx, o, p, partLimit)
	if err != nil {
		return in, err
	}
	plan, err := e.plan(ctx, o, edition{p, edits, knowledge{read: true, state: stateOf(ctx, o)}})
	if err != nil {
		return in, err
	}
	next, err := partly(p, old.text, plan.text, refused)
	return editArgs{Path: in.Path, OldString: &old.text, NewString: &next}, err
}

// partly is the new text without the refused hunks.
func partly(p workspace.Path, before, after string, refused []int) (string, error) {
	next, kept, err := diff.Without(before, after, refused)
	if err == nil && kept == 0 {
		err = tool.Fail(tool.CodeNoChange, "nothing is left of the change to %s", p.Display())
	}
	return next, err
}
