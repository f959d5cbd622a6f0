package overlay

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/overlay/entry"
)

func (v *View) plan(changes []*Change) (steps []apply.Step, err error) {
	p := planner{View: v, late: map[*Change]bool{}}
	for _, top := range changes {
		if err := p.change(top, around{}); err != nil {
			return nil, err
		}
	}
	p.moves()
	for _, c := range slices.Backward(p.folders) { // children first
		s := c.step(apply.ActDress)
		s.Order, s.Times = apply.OrderFolders, c.Copied && !entry.Later(c.Upper.Modified, v.ViewTime)
		p.steps = append(p.steps, s)
		if c.Kind == apply.Merged && c.Upper.Mode&0o700&^c.Lower.Mode != 0 {
			s = c.step(apply.ActDress)
			s.Order = apply.OrderEarly
			p.steps = append(p.steps, s)
		}
	}
	slices.SortStableFunc(p.steps, func(a, b apply.Step) int { return a.Order - b.Order })
	movers := map[string]int{} // by place
	for i := range p.steps {
		s := &p.steps[i]
		s.Number = i
		for dir := s.Path; s.Mover == "" && dir != "."; dir = filepath.Dir(dir) {
			if by, ok := movers[filepath.Join(v.Roots[s.Root].Path, dir)]; ok {
				s.Mover = filepath.Join(fmt.Sprint("old-", by), strings.TrimPrefix(s.Path, dir))
			}
		}
		if s.Act == apply.ActMove {
			movers[filepath.Join(v.Roots[s.Root].Path, s.Path)] = i
		}
	}
	return p.steps, nil
}

type planner struct {
	*View
	steps   []apply.Step
	renamed []*Change
	late    map[*Change]bool // those whose new folder is made first
	folders []*Change        // existing ones with changed attributes
}

func (c *Change) step(a apply.Act) apply.Step {
	return apply.Step{Act: a, Root: c.Root, Path: c.Path, Kind: c.Kind, Upper: c.Upper, Lower: c.Lower, Locked: c.Locked, Group: c.Group, Order: c.Order}
}

// around describes a change's parent folder: put for a new folder, moved into place with its
// content; renamed for one renamed before its content changes.
type around struct {
	put, renamed bool
}

func (p *planner) change(c *Change, in around) error {
	if c.Dropped || c.SkipReason != "" {
		return nil
	}
	base, writes := p.writes(c)
	renamed := c.Origin != nil && !c.Origin.Link
	switch {
	case c.Kind == apply.Merged:
		if c.Path != "" && p.dressed(c) && !p.redressed(c) {
			p.folders = append(p.folders, c)
		}
	case renamed && c.Origin.InRenamedFolder: // moves with its folder
	case renamed:
		p.renamed = append(p.renamed, c)
		p.late[c] = in.put || in.renamed
	case c.Origin != nil:
		s := c.step(apply.ActLink)
		s.From, s.Lower, s.Over, s.Order = c.Origin.Path, c.Origin.Stat, c.Lower, apply.OrderLinks
		p.steps = append(p.steps, s)
	case writes: // below
	case c.Kind == apply.Removed:
		if !c.renamed {
			p.add(c.step(apply.ActRemove), in)
		}
	case !in.put:
		p.add(c.step(apply.ActPut), in)
	}
	if writes {
		s := c.step(cmp.Or(c.act, apply.ActWrite))
		s.Lower, s.Times, s.Moved, s.Dress = base, p.setsTime(c, base), renamed, !c.attributes
		if renamed {
			s.Order = apply.OrderWrites
		}
		if c.act != apply.ActDress || s.Dress || !entry.SameOwner(c.Upper, base) || s.Times && c.Upper.Modified != base.Modified {
			p.steps = append(p.steps, s)
		}
	}
	if c.Kind == apply.New && renamed {
		s := c.step(apply.ActDress)
		s.Lower, s.Moved, s.Order = c.Origin.Stat, true, apply.OrderFolders
		s.Times = c.Upper.Modified != c.Origin.Stat.Modified && !entry.Later(c.Upper.Modified, p.ViewTime)
		if s.Times || !c.attributes || !entry.SameOwner(c.Upper, c.Origin.Stat) {
			p.steps = append(p.steps, s)
		}
	}
	if c.Kind == apply.File && !writes || c.Kind == apply.New {
		if err := entry.Strip(p.Place(c), c.Upper); err != nil {
			return err
		}
	}
	if c.Kind == apply.New {
		in = around{put: !renamed, renamed: renamed}
	}
	for _, child := range c.Children {
		if err := p.change(child, in); err != nil {
			return err
		}
	}
	return nil
}

// setsTime reports whether a file gets the command's time: nobody else changed it, or the command
// set the time.
func (v *View) setsTime(c *Change, base entry.Stat) bool {
	return !v.Newer(base) || c.Content == entry.Same && (entry.Later(c.Upper.Modified, v.ViewTime) || c.Upper.Accessed != base.Accessed)
}

func (p *planner) add(s apply.Step, in around) {
	if in.renamed {
		s.Order = apply.OrderWrites
	}
	p.steps = append(p.steps, s)
}

// moves makes the rename steps: first those with a free new name, and content before its renamed
// folder. Circular renames, and those into a new or renamed folder, are parked in the view.
func (p *planner) moves() {
	waiting := p.renamed
	blocked := func(c *Change) bool {
		return p.late[c] || slices.ContainsFunc(waiting, func(o *Change) bool {
			return o != c && (o.Origin.Path == c.Path || strings.HasPrefix(o.Origin.Path, c.Origin.Path+"/"))
		})
	}
	for {
		i := slices.IndexFunc(waiting, func(c *Change) bool { return !blocked(c) })
		if i < 0 {
			break
		}
		p.move(waiting[i], apply.OrderMoves, 0)
		waiting = slices.Delete(slices.Clone(waiting), i, i+1)
	}
	parks := slices.SortedFunc(slices.Values(waiting), func(a, b *Change) int { return strings.Compare(b.Origin.Path, a.Origin.Path) }) // children first
	for _, c := range parks {
		s := c.step(apply.ActPark)
		s.Path, s.From, s.Lower, s.Over, s.Parked, s.Order = c.Origin.Path, c.Origin.Path, c.Origin.Stat, entry.Stat{}, slices.Index(waiting, c)+1, apply.OrderParks
		p.steps = append(p.steps, s)
	}
	for i, c := range waiting { // parents first
		p.move(c, apply.OrderLate, i+1)
	}
}

func (p *planner) move(c *Change, order, parked int) {
	s := c.step(apply.ActMove)
	s.From, s.Lower, s.Over, s.Parked, s.Order = c.Origin.Path, c.Origin.Stat, c.Lower, parked, order
	if slices.ContainsFunc(p.renamed, func(other *Change) bool { return other.Origin.Path == c.Path }) {
		s.Over = entry.Stat{} // renamed by then
	}
	p.steps = append(p.steps, s)
}
