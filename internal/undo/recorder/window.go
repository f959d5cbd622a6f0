package recorder

import (
	"context"
	"fmt"
	"os"

	"adze/internal/undo"
	"adze/session"
	"adze/tool"
)

// After implements session.Snapshots.
func (k *Keeper) After(ctx context.Context, r tool.Record, before session.State, late func(session.Window)) (w session.Window, err error) {
	if paths := k.writes(r); len(paths) > 0 {
		k.o.ChangeLog.named(paths)
	}
	if before.Provisional {
		if job := k.goesOn(r, before); job != nil {
			k.late.Go(func() {
				job.Wait(k.life)
				whole, err := k.After(context.WithoutCancel(k.life), r, before, func(session.Window) {})
				if err != nil {
					whole = session.Window{Before: before, Author: session.ByUnknown}
				}
				late(whole)
			})
			return session.Window{Before: before}, nil
		}
		c := k.separate.end(before)
		if c.from == nil {
			return unchanged(before), nil
		}
		end := func() { _ = os.Remove(beganFile(k.ws, c.before)) }
		if c.to != nil {
			defer end()
			return k.exact(ctx, session.Window{Before: *c.from, After: c.to}, k.o.ChangeLog)
		}
		before = *c.from
		was := late
		late = func(w session.Window) { was(w); end() }
		defer func() {
			if w.After != nil {
				end()
			}
		}()
	}
	w, err = k.window(ctx, before)
	if err != nil {
		return w, err
	}
	if jobs := k.since(before); len(jobs) > 0 && len(before.Named) == 0 {
		w.After = nil
		k.late.Go(func() {
			for _, j := range jobs {
				j.Wait(k.life)
			}
			whole, err := k.window(context.WithoutCancel(k.life), before)
			if err != nil {
				whole = session.Window{Before: before, Author: session.ByUnknown}
			}
			late(whole)
		})
	}
	return w, nil
}

// goesOn returns the background job of a call whose command changes the folder only at its end, or
// nil.
func (k *Keeper) goesOn(r tool.Record, before session.State) *Job {
	if k.o.Jobs == nil || k.separate.begun(before) {
		return nil
	}
	for _, j := range k.o.Jobs() {
		if j.Tag == tagOf(r.Call) && j.Started.UnixNano() >= before.Time {
			return &j
		}
	}
	return nil
}

// since returns the running jobs started after a state.
func (k *Keeper) since(before session.State) (jobs []Job) {
	if k.o.Jobs == nil {
		return nil
	}
	for _, j := range k.o.Jobs() {
		if j.Started.UnixNano() >= before.Time {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// Lost implements session.Snapshots.
func (k *Keeper) Lost(ctx context.Context, before session.State) (session.Window, error) {
	if before.Root != k.o.Root {
		return session.Window{}, fmt.Errorf("the state is of %s, and this is %s", before.Root, k.o.Root)
	}
	if _, err := k.Workspace(ctx); err != nil {
		return session.Window{}, err
	}
	begun, ok := begunAt(k.ws, before)
	switch {
	case !ok:
		return unchanged(before), nil
	case begun.After != nil:
		return k.exact(ctx, begun, nil)
	}
	return k.window(ctx, begun.Before)
}

func (k *Keeper) window(ctx context.Context, before session.State) (session.Window, error) {
	w := session.Window{Before: before}
	from, err := undo.ParseMark(before.Mark)
	if err == nil {
		err = k.sameKind(before)
	}
	if err != nil {
		return w, err
	}
	named := before.Named
	if k.narrow {
		named = before.Only
	}
	after, mark, err := k.take(ctx, named)
	if err != nil {
		return w, err
	}
	changes, err := k.ws.Diff(ctx, from, mark)
	if err != nil {
		return w, err
	}
	w.After = &after
	w.Changes, w.More = listed(changes)
	k.show(changes, w.Changes)
	if !k.narrow {
		doubt(&w, changes, k.o.ChangeLog)
	}
	return w, nil
}

// doubt adds to w.Unsure the changes not known to be made by a call of this session.
func doubt(w *session.Window, changes []undo.Change, own *ChangeLog) {
	known := own.since(w.Before.Time)
	for _, c := range changes {
		if known(c.Path) || onlyAttributes(c) {
			continue
		}
		if w.Unsure = append(w.Unsure, c.Path); len(w.Unsure) > session.MaxFileChanges {
			w.Unsure, w.Author = nil, session.ByPerhaps
			return
		}
	}
}

// onlyAttributes reports whether only extended attributes, access lists or the owner changed.
// Commands change these, and it cannot be seen who did; they are not attributed to the user.
func onlyAttributes(c undo.Change) bool {
	a, b := c.Before, c.After
	return a.Attrs != b.Attrs && a.Kind == b.Kind && a.Mode == b.Mode && a.Size == b.Size && (a.Hash == b.Hash || a.Kind == undo.Folder)
}

// listed converts changes for the log.
func listed(changes []undo.Change) (out []session.FileChange, more int) {
	for _, c := range changes {
		if len(out) == session.MaxFileChanges {
			return out, len(changes) - len(out)
		}
		out = append(out, session.FileChange{Path: c.Path, Git: c.Group == undo.GroupGit, Before: stateOf(c.Before), After: stateOf(c.After)})
	}
	return out, 0
}

func stateOf(e undo.Entry) session.FileState {
	s := session.FileState{Kind: e.Kind.String(), Mode: e.Mode, Size: e.Size}
	switch e.Kind {
	case undo.File:
		s.SHA256 = e.Hash.String()
	case undo.Symlink:
		s.Target = e.Target
	}
	return s
}

// LeftOut returns a line about the paths undo does not cover, or "" if a user would miss none.
func LeftOut(left []undo.Uncovered) string {
	var names []string
	var size int64
	for _, l := range left {
		size += l.Size
		if len(names) < 3 {
			names = append(names, l.Path)
		}
	}
	if len(left) == 0 {
		return ""
	}
	more := ""
	if len(left) > len(names) {
		more = ", …"
	}
	return fmt.Sprintf("undo does not cover %s%s: %s%s", paths(len(left)), sized(size), join(names), more)
}
