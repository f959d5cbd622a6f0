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

// Reasons for which a path is left alone that changed while a call ran.
const (
	RefusedPerhaps = "it changed while a command ran, perhaps by you"
	refusedOther   = "another session changed it at the same time"
)

// inDoubt reports that a path is left alone only because nobody saw who changed it. An older adze
// had more such reasons, which begin alike.
func inDoubt(r session.Refused) bool {
	return strings.HasPrefix(r.Reason, "it changed while a command ran")
}

// doubts says of paths why they are left alone although turns changed them: somebody else may have
// done it, or another session did.
func (p *Proposal) doubts(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	from := time.Now().UnixNano()
	for _, t := range p.Turns {
		for _, w := range t.Windows {
			from = min(from, w.Before.At)
		}
	}
	others, err := p.desk.beside(ctx, from)
	if err != nil {
		return nil, err
	}
	for _, t := range p.Turns {
		for _, w := range t.Windows {
			if w.Before.Root != p.desk.Root || w.By == session.ByUnknown || len(w.Before.Only) > 0 {
				continue
			}
			unsure, err := p.desk.unsure(ctx, w)
			if err != nil {
				return nil, err
			}
			for _, path := range unsure {
				if !p.wish.Unknown {
					out[path] = RefusedPerhaps
				}
			}
			for _, o := range others {
				if (w.After == nil || o.Before.At < w.After.At) && w.Before.At < o.After.At {
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

// unsure are the paths that differ in a window, of which nobody knows who changed them. A window
// that has not ended is compared with what is there.
func (d Manager) unsure(ctx context.Context, w session.Window) (paths []string, err error) {
	if w.After != nil && w.By != session.ByPerhaps {
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
		known = d.ChangeLog.since(w.Before.At)
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

// beside are the windows of other sessions that worked in the folder after a moment. Of one that
// has not ended nobody knows what its session did in it.
func (d Manager) beside(ctx context.Context, from int64) (out []session.Window, err error) {
	if d.Others == nil {
		return nil, nil
	}
	heads, err := d.Others.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, h := range heads {
		info := h.Info()
		if h.ID == d.Session || info.Agent != "" || info.Cwd != d.Root || h.Updated.UnixNano() < from {
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
				if w.After != nil && w.Before.Root == d.Root && w.By == "" {
					out = append(out, w)
				}
			}
		}
	}
	return out, nil
}
