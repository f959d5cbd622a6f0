package recorder

import (
	"context"
	"errors"
	"slices"

	"adze/internal/undo"
	"adze/session"
)

// Reasons for which a path is left alone that changed while a call ran.
const (
	RefusedPerhaps = "it changed while a command ran, perhaps by you"
	RefusedForeign = "it changed while a command ran, and not by that command: perhaps by you"
	RefusedBeside  = "it changed while a command ran here and another session worked, too"
	refusedOther   = "another session changed it at the same time"
)

// inDoubt reports that a path is left alone only because nobody saw who changed it.
func inDoubt(r session.Refused) bool {
	return r.Reason == RefusedPerhaps || r.Reason == RefusedForeign || r.Reason == RefusedBeside
}

// windowChanges are the paths that differ in a window, and those of them of which nobody knows who
// changed them.
type windowChanges struct {
	all    map[string]bool
	unsure func(path string) bool
	doubt  string // the reason for these
}

// doubts says of paths why they are left alone although turns changed them: somebody else may have
// done it, or did.
func (p *Proposal) doubts(ctx context.Context, past *Past) (map[string]string, error) {
	out := map[string]string{}
	others, err := p.desk.beside(ctx, p.Turns)
	if err != nil {
		return nil, err
	}
	for _, t := range p.Turns {
		for _, w := range t.Windows {
			if w.Before.Root != p.desk.Root || w.By == session.ByUnknown || len(w.Before.Only) > 0 {
				continue
			}
			ours, err := p.desk.changed(ctx, w)
			if err != nil {
				return nil, err
			}
			if !p.wish.Unknown {
				for path := range ours.all {
					if ours.unsure(path) && out[path] == "" {
						out[path] = ours.doubt
					}
				}
			}
			for _, o := range others {
				if w.After != nil && w.After.At <= o.Before.At || o.After.At <= w.Before.At {
					continue
				}
				theirs, err := p.desk.changed(ctx, o)
				if err != nil {
					return nil, err
				}
				for path := range theirs.all {
					switch {
					case !ours.all[path]:
					case !theirs.unsure(path):
						out[path] = refusedOther
					case ours.unsure(path) && !p.wish.Unknown && out[path] != refusedOther:
						out[path] = RefusedBeside
					}
				}
			}
		}
	}
	return out, nil
}

// changed reads what differs in a window. One that has not ended is compared with what is there.
func (d Manager) changed(ctx context.Context, w session.Window) (windowChanges, error) {
	c := windowChanges{all: map[string]bool{}, doubt: RefusedForeign}
	c.unsure = func(path string) bool { return w.By == session.ByPerhaps || slices.Contains(w.Unsure, path) }
	if w.Unseen || w.After == nil && d.ChangeLog.unseen(w.Before.At) {
		c.doubt = RefusedPerhaps
	}
	if w.After != nil && w.More == 0 {
		for _, x := range w.Changes {
			c.all[x.Path] = true
		}
		return c, nil
	}
	before, err := undo.ParseMark(w.Before.Mark)
	if err != nil {
		return c, err
	}
	var after undo.Mark
	if w.After != nil {
		after, err = undo.ParseMark(w.After.Mark)
	} else {
		after, err = d.present(ctx)
		known := d.ChangeLog.since(w.Before.At)
		c.unsure = func(path string) bool { return !known(path) }
	}
	if err != nil {
		return c, err
	}
	all, err := d.Files.Diff(ctx, before, after)
	for _, x := range all {
		c.all[x.Path] = true
	}
	return c, err
}

// beside are the windows of other sessions in the folder that may overlap those of turns. Of a
// window that has not ended nobody knows what its session did in it.
func (d Manager) beside(ctx context.Context, turns []Turn) (out []session.Window, err error) {
	if d.Others == nil {
		return nil, nil
	}
	first, last := span{}, int64(0)
	for _, t := range turns {
		for _, w := range t.Windows {
			if first.from == 0 || w.Before.At < first.from {
				first.from = w.Before.At
			}
			if w.After == nil {
				last = 1<<63 - 1
			} else {
				last = max(last, w.After.At)
			}
		}
	}
	heads, err := d.Others.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, h := range heads {
		info := h.Info()
		if h.ID == d.Session || info.Agent != "" || info.Cwd != d.Root || h.Updated.UnixNano() < first.from || h.Created.UnixNano() > last {
			continue
		}
		past, err := Read(ctx, d.Others, h.ID)
		if errors.Is(err, session.ErrNotFound) {
			continue // it was removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		for _, t := range past.Turns {
			for _, w := range t.Windows {
				if w.After != nil && w.Before.Root == d.Root && w.By != session.ByUnknown {
					out = append(out, w)
				}
			}
		}
	}
	return out, nil
}
