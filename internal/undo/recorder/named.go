package recorder

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"adze/internal/undo"
	"adze/session"
	"adze/tool"
)

// In a folder that is too wide to walk, only the files named by calls of file tools are stored.
// Changes by commands cannot be undone there, which is reported once.

// openWidely opens a folder in which only named paths are covered.
func (k *Keeper) openWidely(why error) (*undo.Workspace, error) {
	o := k.o.Options
	o.Named = true
	ws, err := undo.Open(o)
	if err != nil {
		return nil, errors.Join(why, err)
	}
	k.narrow = true
	return ws, nil
}

// named returns the paths a call declares to change, relative to the folder, and whether it may
// change others.
func (k *Keeper) named(r tool.Record) (only []string, others bool) {
	others = len(r.Needs) == 0
	for _, n := range r.Needs {
		if n.Permission != tool.Write || n.Reach == tool.OwnStart {
			others = others || n.Permission == tool.Execute && n.Reach != tool.OwnStart
			continue
		}
		path, known := "", false
		if n.Reach == "" && k.o.Path != nil {
			path, known = k.o.Path(n.Target)
		}
		if !known {
			others = true
		} else if !slices.Contains(only, path) {
			only = append(only, path)
		}
	}
	return only, others
}

// alone returns the call's paths if it changes nothing else, as with file tools; otherwise nil.
func (k *Keeper) alone(r tool.Record) []string {
	only, others := k.named(r)
	if others || k.o.Followed != nil && k.o.Followed() {
		return nil
	}
	return only
}

// beforeNamed is Before if only named paths are covered.
func (k *Keeper) beforeNamed(ctx context.Context, r tool.Record) (*session.State, error) {
	only, others := k.named(r)
	if others {
		k.notify("what commands change in this folder cannot be undone: it is too wide; what the file tools change in it can")
	}
	if len(only) == 0 {
		return nil, nil
	}
	state, _, err := k.take(ctx, only)
	return &state, err
}

// sameKind returns an error unless the state covers the same as this keeper: the whole folder or
// named paths.
func (k *Keeper) sameKind(s session.State) error {
	if k.narrow == (len(s.Only) > 0) {
		return nil
	}
	return fmt.Errorf("%s was covered in another way then", s.Root)
}

// end ends the windows of named paths whose process died with the present state. It removes windows
// without an end if the folder is covered in another way now: their changes are unknown.
func (d Manager) end(ctx context.Context, past *History) error {
	for i := range past.Turns {
		turn := &past.Turns[i]
		var ended []session.Window
		for _, w := range turn.Windows {
			named := len(w.Before.Only) > 0
			if w.After != nil || w.Before.Root != d.Root || !named && !d.Files.Named() {
				ended = append(ended, w)
			}
			if w.After != nil || w.Before.Root != d.Root || !named || !d.Files.Named() {
				continue
			}
			mark, err := d.Files.TakeAt(ctx, w.Before.Only)
			if err != nil {
				return err
			}
			w.After, w.Author = &session.State{Root: d.Root, Mark: mark.String(), Time: d.Now().UnixNano(), Only: w.Before.Only}, session.ByUnknown
			ended = append(ended, w)
		}
		turn.Windows = ended
	}
	return nil
}

// present returns the state at which windows without an end stop, or none if only named paths are
// covered.
func (d Manager) present(ctx context.Context) (undo.Mark, error) {
	if d.Files.Named() {
		return undo.Mark{}, nil
	}
	now, err := d.Files.TakeSettled(ctx)
	if err != nil && !now.IsZero() && errors.Is(err, undo.ErrSpace) {
		err = nil // entries that did not fit are refused one by one
	}
	return now, err
}
