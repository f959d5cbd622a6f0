package toolset

import (
	"context"

	"adze/internal/files/diff"
	"adze/internal/files/workspace"
	"adze/tool"
)

// partLimit limits files to be changed in part, in bytes: the changed call holds the text twice.
const partLimit = 4 << 20

// without writes the new text except for the refused hunks, which keep the file's text.
func (w writer) without(ctx context.Context, in writeArgs, refused []int) (writeArgs, error) {
	p, old, plan, err := w.planned(ctx, in, partLimit)
	if err != nil {
		return in, err
	}
	in.Content, err = partly(p, old.text, plan.text, refused)
	return in, err
}

// without replaces the edits by the file's whole new text without the refused hunks, so that it
// applies only to the very text that was shown.
func (e editor) without(ctx context.Context, in editArgs, refused []int) (editArgs, error) {
	edits, err := in.list()
	if err != nil {
		return in, err
	}
	p, err := e.root.Resolve(in.Path)
	if err != nil {
		return in, err
	}
	o, err := e.root.Open(p.WithConsent())
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

// partly returns the new text without the refused hunks.
func partly(p workspace.Path, before, after string, refused []int) (string, error) {
	next, kept, err := diff.ApplyExcept(before, after, refused)
	if err == nil && kept == 0 {
		err = tool.Fail(tool.CodeNoChange, "nothing is left of the change to %s", p.Display())
	}
	return next, err
}
