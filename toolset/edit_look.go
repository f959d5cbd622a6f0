package toolset

import (
	"context"

	"adze/internal/files/workspace"
	"adze/tool"
)

// Check and preview of an edit before it is made.

// check performs the edit without writing.
func (e editor) check(ctx context.Context, c tool.Context[changeMeta], in editArgs) error {
	of, err := e.open(ctx, c, in)
	if err == nil && !of.know.read {
		err = mayLook(ctx, c.Ask, of.path)
	}
	if err != nil {
		return err
	}
	return e.root.Look(of.path, func(cur *workspace.Current) error {
		_, err := e.plan(ctx, cur.Opened, of)
		return err
	})
}

// preview shows a user an edit's effect, without the session's knowledge.
func (e editor) preview(ctx context.Context, in editArgs) (changeMeta, error) {
	edits, err := in.list()
	if err != nil {
		return changeMeta{}, err
	}
	p, err := e.root.Resolve(in.Path)
	if err != nil {
		return changeMeta{}, err
	}
	o, err := e.root.Open(p.WithConsent())
	if err != nil && !isMissing(err) {
		return changeMeta{}, err
	}
	if err == nil {
		defer o.Close()
	} else {
		o = nil
	}
	plan, err := e.plan(ctx, o, edition{p, edits, knowledge{read: o != nil, state: stateOf(ctx, o)}})
	return plan.meta(p), err
}

// stateOf makes a preview match as leniently as an edit after a fresh read.
func stateOf(ctx context.Context, o *workspace.Opened) workspace.State {
	if o == nil {
		return workspace.State{}
	}
	raw, err := o.Bytes(ctx, workspace.HashLimit)
	if err != nil {
		raw = nil
	}
	return o.State(raw)
}
