package overlay

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
	Upper  Stat   // of what is put there, or whose attributes it gets
	Lower  Stat   // of what must be at the place, or at From
	Over   Stat   // of what must be at the place to which something is renamed
	Fork   int64  // from where on ours is appended
	Moved  bool   // Lower had another name: its time of change is another one now
	Loose  bool   // what is there may have changed, but must be the same inode
	Dress  bool   // the attributes are others
	Times  bool   // the time of change of the content is set, too
	Mover  string `json:",omitempty"` // where ours is in the view, if a step before moved it away from its place
	Parked int    // the number by which what is at From waits; if 0, it does not
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
		if err := p.change(top, around{}); err != nil {
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
	for _, c := range slices.Backward(p.filled) {
		s := c.step(dress)
		s.Lower, s.order = c.Upper, orderFolders
		p.steps = append(p.steps, s)
	}
	slices.SortStableFunc(p.steps, func(a, b step) int { return a.order - b.order })
	type place struct {
		root int
		path string
	}
	movers := map[place]int{}
	for i := range p.steps {
		s := &p.steps[i]
		s.Number = i
		for dir := s.Path; s.Mover == "" && dir != "."; dir = filepath.Dir(dir) {
			if by, ok := movers[place{s.Root, dir}]; ok {
				s.Mover = filepath.Join(fmt.Sprint("old-", by), strings.TrimPrefix(s.Path, dir))
			}
		}
		if s.Act == move {
			movers[place{s.Root, s.Path}] = i
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
	filled  []*Change        // new ones, in which something is put later
}

func (c *Change) step(a act) step {
	return step{Act: a, Root: c.Root, Path: c.Path, Kind: c.Kind, Upper: c.Upper, Lower: c.Lower, Locked: c.Locked, Group: c.Group, Loose: c.loose, order: c.Order}
}

// around says in what folder a change is: in a new one, which is put in its place with all that is
// in it, or in one that is renamed before anything in it changes.
type around struct {
	put, renamed bool
	folder       *Change // the one that it is in; nil where that was there
}

// change makes the steps for a change and what is below it.
func (p *planner) change(c *Change, in around) error {
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
		p.late[c] = in.put || in.renamed
		in.comes(p)
	case c.From != nil:
		s := c.step(link)
		s.From, s.Lower, s.Over, s.order = c.From.Path, c.From.Stat, c.Lower, orderLinks
		p.steps = append(p.steps, s)
		in.comes(p)
	case writes: // below
	case c.Kind == Removed:
		if !c.renamed {
			p.steps = append(p.steps, in.step(c, remove))
		}
	case !in.put:
		p.steps = append(p.steps, in.step(c, put))
	}
	if writes {
		s := c.step(map[how]act{inPlace: write, appended: extend, attributes: dress}[c.how])
		s.Lower, s.Fork, s.Times, s.Moved, s.Dress = base, c.fork, p.setsTime(c, base), renamed, !c.attributes
		if renamed {
			s.order = orderWrites
		}
		if c.how != attributes || s.Dress || !sameOwner(c.Upper, base) || s.Times && c.Upper.Modified != base.Modified {
			p.steps = append(p.steps, s)
		}
	}
	if c.Kind == New && renamed {
		s := c.step(dress)
		s.Lower, s.Moved, s.order = c.From.Stat, true, orderFolders
		s.Times = c.Upper.Modified != c.From.Stat.Modified && !later(c.Upper.Modified, p.since)
		if s.Times || !c.attributes || !sameOwner(c.Upper, c.From.Stat) {
			p.steps = append(p.steps, s)
		}
	}
	if c.Kind == File || c.Kind == New {
		if err := strip(p.Place(c), c.Upper); err != nil {
			return err
		}
	}
	if c.Kind == New {
		in = around{put: !renamed, renamed: renamed, folder: c}
	}
	for _, child := range c.Children {
		if err := p.change(child, in); err != nil {
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

// comes says that something gets a name in the folder after that was put in its place: then its time
// is set once more.
func (in around) comes(p *planner) {
	if in.put && !slices.Contains(p.filled, in.folder) {
		p.filled = append(p.filled, in.folder)
	}
}

// step is a step of a change in such a folder.
func (in around) step(c *Change, a act) step {
	s := c.step(a)
	if in.renamed {
		s.order = orderWrites
	}
	return s
}

// moves makes the steps that rename: first those whose new name is free, or of an entry that goes
// away, and of what is in a renamed folder before the folder itself. What stands in a circle, or
// belongs into a new or renamed folder, waits in the view.
func (p *planner) moves() {
	waiting := p.renamed
	blocked := func(c *Change) bool {
		return p.late[c] || slices.ContainsFunc(waiting, func(o *Change) bool {
			return o != c && (o.From.Path == c.Path || strings.HasPrefix(o.From.Path, c.From.Path+"/"))
		})
	}
	for {
		i := slices.IndexFunc(waiting, func(c *Change) bool { return !blocked(c) })
		if i < 0 {
			break
		}
		p.move(waiting[i], orderMoves, 0)
		waiting = slices.Delete(slices.Clone(waiting), i, i+1)
	}
	parks := slices.SortedFunc(slices.Values(waiting), func(a, b *Change) int { return strings.Compare(b.From.Path, a.From.Path) }) // what is inside first
	for _, c := range parks {
		s := c.step(park)
		s.Path, s.From, s.Lower, s.Over, s.Parked, s.order = c.From.Path, c.From.Path, c.From.Stat, Stat{}, slices.Index(waiting, c)+1, orderParks
		p.steps = append(p.steps, s)
	}
	for i, c := range waiting { // parents first
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
