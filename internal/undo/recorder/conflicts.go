package recorder

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"adze/internal/undo"
	"adze/session"
)

// Reasons for leaving a path alone that changed during a call.
const (
	RefusedPerhaps = "it changed while a command ran, perhaps by you"
	refusedOther   = "another session changed it at the same time"
)

// inDoubt reports whether a path is left alone only because it is unknown who changed it. An older
// adze had more such reasons, with the same beginning.
func inDoubt(r session.Refused) bool {
	return strings.HasPrefix(r.Reason, "it changed while a command ran")
}

// doubts returns reasons to leave paths alone that changed during the turns: the user or another
// session may have changed them.
func (p *Proposal) doubts(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	from := time.Now().UnixNano()
	for _, t := range p.Turns {
		for _, w := range t.Windows {
			from = min(from, w.Before.Time)
		}
	}
	others, err := p.manager.beside(ctx, from)
	if err != nil {
		return nil, err
	}
	for _, t := range p.Turns {
		for _, w := range t.Windows {
			if w.Before.Root != p.manager.Root || w.Author == session.ByUnknown || len(w.Before.Only) > 0 {
				continue
			}
			unsure, err := p.manager.unsure(ctx, w)
			if err != nil {
				return nil, err
			}
			for _, path := range unsure {
				if !p.options.Unknown {
					out[path] = RefusedPerhaps
				}
			}
			for _, o := range others {
				if (w.After == nil || o.Before.Time < w.After.Time) && w.Before.Time < o.After.Time {
					for _, c := range o.Changes {
						if !slices.Contains(o.Unsure, c.Path) {
							out[c.Path] = refusedOther
						}
					}
				}
			}
		}
	}
	return out, nil
}

// unsure returns the paths changed in a window by an unknown party. A window without an end extends
// to the present files.
func (d Manager) unsure(ctx context.Context, w session.Window) (paths []string, err error) {
	if w.After != nil && w.Author != session.ByPerhaps {
		return w.Unsure, nil
	}
	before, err := undo.ParseMark(w.Before.Mark)
	if err != nil {
		return nil, err
	}
	var after undo.Mark
	known := func(string) bool { return false }
	if w.After != nil {
		after, err = undo.ParseMark(w.After.Mark)
	} else {
		after, err = d.present(ctx)
		known = d.ChangeLog.since(w.Before.Time)
	}
	if err != nil {
		return nil, err
	}
	all, err := d.Files.Diff(ctx, before, after)
	for _, x := range all {
		if !known(x.Path) {
			paths = append(paths, x.Path)
		}
	}
	return paths, err
}

// beside returns the windows of other sessions in the folder since a time, except those without an
// end, whose changes are unknown.
func (d Manager) beside(ctx context.Context, from int64) (out []session.Window, err error) {
	if d.OtherSessions == nil {
		return nil, nil
	}
	heads, err := d.OtherSessions.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, h := range heads {
		info := h.Info()
		if h.ID == d.Session || info.Agent != "" || info.Cwd != d.Root || h.Updated.UnixNano() < from {
			continue
		}
		past, err := Read(ctx, d.OtherSessions, h.ID)
		if errors.Is(err, session.ErrNotFound) {
			continue // removed in the meantime
		}
		if err != nil {
			return nil, err
		}
		for _, t := range past.Turns {
			for _, w := range t.Windows {
				if w.After != nil && w.Before.Root == d.Root && w.Author == "" {
					out = append(out, w)
				}
			}
		}
	}
	return out, nil
}
