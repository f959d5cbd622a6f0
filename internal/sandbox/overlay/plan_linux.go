package overlay

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// act is what a step does.
type act byte

const (
	put    act = 'p' // the entry of ours takes the place
	remove act = 'r'
	move   act = 'm' // what is at From gets the name
	park   act = 'k' // what is at From waits in the view until it gets its name
	link   act = 'l' // what is at From gets a second name
	write  act = 'w' // bytes in the file, then its attributes
	extend act = 'a' // bytes at the end of the file, whoever else appends to it
	dress  act = 'd' // attributes alone
)

// step is a part of applying the changes. It can be done again, and taken back.
type step struct {
	Number int // in the journal; it makes names
	Root   int
	Act    act
	Path   string
	From   string `json:",omitempty"`
	Kind   Kind
	Upper  Stat  // of what is put there, or whose attributes it gets
	Lower  Stat  // of what must be at the place, or at From
	Over   Stat  // of what must be at the place to which something is renamed
	Fork   int64 // from where on ours is appended
	Moved  bool  // Lower had another name: its time of change is another one now
	Loose  bool  // what is there may have changed, but must be the same inode
	Times  bool  // the time of change of the content is set, too
	Mover  int   // the number of the step that renamed it to a new folder, which ours had come to
	Parked int   // the number by which what is at From waits; if 0, it does not
	Locked bool
	Group  int
	order  int
}

// journal is what is written before the first entry is changed.
type journal struct {
	Roots []Root
	Since [2]int64
	Steps []step
}

// Orders of steps, around those of the callers, which are small.
const (
	orderEarly = -1000 + iota // the rights that the steps need
	orderMoves
	orderParks
	orderLate = 1000 + iota
	orderLinks
	orderWrites
	orderFolders
)

// plan makes the steps for changes that are settled.
func (v *View) plan(changes []*Change) (steps []step, err error) {
	p := planner{View: v}
	for _, top := range changes {
		if err := p.change(top, false); err != nil {
			return nil, err
		}
	}
	p.moves()
	for _, c := range slices.Backward(p.folders) { // children first
		s := c.step(dress)
		s.order, s.Times = orderFolders, c.Copied && !later(c.Upper.Modified, v.since)
		p.steps = append(p.steps, s)
		if c.Kind == Merged && c.Upper.Mode&0o700&^c.Lower.Mode != 0 {
			s = c.step(dress)
			s.order = orderEarly
			p.steps = append(p.steps, s)
		}
	}
	slices.SortStableFunc(p.steps, func(a, b step) int { return a.order - b.order })
	type place struct {
		root int
		path string
	}
	movers := map[place]int{}
	for i := range p.steps {
		s := &p.steps[i]
		at := place{s.Root, s.Path}
		s.Number, s.Mover = i, movers[at]
		if s.Act == move {
			movers[at] = i
		}
	}
	return p.steps, nil
}

type planner struct {
	*View
	steps   []step
	renamed []*Change
	late    map[*Change]bool // of renamed: their folders are made first
	folders []*Change        // that were there, whose attributes change
}

func (c *Change) step(a act) step {
	return step{Act: a, Root: c.Root, Path: c.Path, Kind: c.Kind, Upper: c.Upper, Lower: c.Lower, Locked: c.Locked, Group: c.Group, Loose: c.loose, order: c.Order}
}

// change makes the steps for a change and what is below it. A new folder is put in its place with
// all that is in it; inside says that this one is in such a folder.
func (p *planner) change(c *Change, inside bool) error {
	if c.Dropped || c.Left != "" {
		return nil
	}
	base, writes := p.writes(c)
	renamed := c.From != nil && !c.From.Link
	switch {
	case c.Kind == Merged:
		if c.Path != "" && p.dressed(c) && !p.Newer(c.Lower) {
			p.folders = append(p.folders, c)
		}
	case renamed && c.From.Whole: // with its folder
	case renamed:
		p.renamed = append(p.renamed, c)
		if p.late == nil {
			p.late = map[*Change]bool{}
		}
		p.late[c] = inside
	case c.From != nil:
		s := c.step(link)
		s.From, s.Lower, s.Over, s.order = c.From.Path, c.From.Stat, c.Lower, orderLinks
		p.steps = append(p.steps, s)
	case writes: // below
	case c.Kind == Removed:
		if !p.gone(c) {
			p.steps = append(p.steps, c.step(remove))
		}
	case !inside:
		p.steps = append(p.steps, c.step(put))
	}
	if writes {
		s := c.step(map[how]act{inPlace: write, appended: extend, attributes: dress}[c.how])
		s.Lower, s.Fork, s.Times, s.Moved = base, c.fork, p.setsTime(c, base), renamed
		if renamed {
			s.order = orderWrites
		}
		if c.how != attributes || !sameOwner(c.Upper, base) || s.Times {
			p.steps = append(p.steps, s)
		}
	}
	if c.Kind == New && renamed {
		s := c.step(dress)
		s.Lower, s.Moved, s.order, s.Times = c.From.Stat, true, orderFolders, true
		p.steps = append(p.steps, s)
	}
	if c.Kind == File || c.Kind == New {
		if err := strip(p.Place(c), c.Upper); err != nil {
			return err
		}
	}
	for _, child := range c.Children {
		if err := p.change(child, inside || c.Kind == New); err != nil {
			return err
		}
	}
	return nil
}

// setsTime reports that a file gets the time of ours: nobody else has changed it, or the command
// set that time.
func (v *View) setsTime(c *Change, base Stat) bool {
	return !v.Newer(base) || c.Content == Same && (later(c.Upper.Modified, v.since) || c.Upper.Accessed != base.Accessed)
}

// gone reports a removed entry that has got another name.
func (p *planner) gone(c *Change) bool { return c.renamed }

// moves makes the steps that rename: first those whose new name is free, or of an entry that goes
// away. What stands in a circle, or belongs into a new folder, waits in the view.
func (p *planner) moves() {
	waiting := p.renamed
	from := func(path string, except *Change) bool {
		return slices.ContainsFunc(waiting, func(c *Change) bool { return c != except && c.From.Path == path })
	}
	for again := true; again; {
		again = false
		for _, c := range waiting {
			if p.late[c] || from(c.Path, c) {
				continue
			}
			p.move(c, orderMoves, 0)
			waiting = slices.DeleteFunc(slices.Clone(waiting), func(x *Change) bool { return x == c })
			again = true
			break
		}
	}
	for i, c := range waiting {
		s := c.step(park)
		s.Path, s.From, s.Lower, s.Over, s.Parked, s.order = c.From.Path, c.From.Path, c.From.Stat, Stat{}, i+1, orderParks
		p.steps = append(p.steps, s)
		p.move(c, orderLate, i+1)
	}
}

func (p *planner) move(c *Change, order, parked int) {
	s := c.step(move)
	s.From, s.Lower, s.Over, s.Parked, s.order = c.From.Path, c.From.Stat, c.Lower, parked, order
	if slices.ContainsFunc(p.renamed, func(other *Change) bool { return other.From.Path == c.Path }) {
		s.Over = Stat{} // it has another name by then
	}
	p.steps = append(p.steps, s)
}

// writeJournal writes it whole, and to the disk: after a loss of power there is none or all of it.
func (v *View) writeJournal(j journal) error {
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	at := filepath.Join(v.dir, journalName)
	f, err := os.OpenFile(at+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, unix.Fdatasync(int(f.Fd())), f.Close()); err != nil {
		return err
	}
	return rename(at+".new", at)
}

// mostSynced is how many files of one command are written to the disk before they replace others.
// What a program wrote to the disk in a view is not there yet, because the kernel does not sync
// volatile overlays.
const mostSynced = 16

// sync writes the files to the disk that replace others, and those that git keeps under lock.
func (v *View) sync(steps []step) {
	n := 0
	for _, s := range steps {
		if s.Kind != File || s.Act == link || !s.Lower.There() && !s.Locked {
			continue
		}
		if n++; n > mostSynced && !s.Locked {
			continue
		}
		if f, err := os.Open(filepath.Join(v.upper(s.Root), s.Path)); err == nil {
			_ = unix.Fdatasync(int(f.Fd())) // what fails is told when it is read
			_ = f.Close()
		}
	}
}
