package sign

// Rejects are the files of a table that a search need not read. Safe for concurrent use.
type Rejects struct {
	t    *Table
	need *Need           // if nil, nothing is known of files but what they are
	held map[*Need]*leaf // of need
	out  []uint64        // a bit for each record
}

// Reject looks through a table. It returns nil where that would save too little, or the table
// cannot be read any more. Where files are marked, only those that may be left out are asked for
// their state, so that less is worth while.
func (t *Table) Reject(n *Need, marked bool) (r *Rejects) {
	defer guard(&r)()
	r = &Rejects{t: t, need: n, out: make([]uint64, len(t.records)/64+1)}
	if n != nil {
		r.held = t.held(n)
	}
	saved := 0 // by what a file costs: something for itself, and as much again for three blocks
	for i, rec := range t.records {
		spared, out := r.spared(rec)
		if saved += spared; out {
			r.out[i>>6] |= 1 << (i & 63)
		}
	}
	least := worthwhile * len(t.records)
	if marked {
		least /= 4
	}
	if saved < least {
		return nil
	}
	return r
}

// spared is what a file need not cost, and whether it need not be read at all.
func (r *Rejects) spared(rec record) (cost int, out bool) {
	switch {
	case rec.flags&flagBinary != 0:
		return 3, true
	case rec.flags&flagRead != 0 || r.need == nil:
		return 0, false
	case !r.need.meets(r.held, rec):
		return 3 + int(rec.blocks), true
	case rec.blocks > 1:
		return int(rec.blocks) - count(r.need.blocks(r.held, rec)), false
	}
	return 0, false
}

// worthwhile is how much has to be saved for each file that the table knows, where reading one of a
// block costs four: to ask for its state costs nearly one, and those that are left to be read are
// the larger ones.
const worthwhile = 2

// Answer is what a table knows of a file.
type Answer uint8

// The answers.
const (
	Unknown Answer = iota // the table has not met it in this state
	Read                  // it may hold a match
	Empty                 // it is text and holds none
	Binary                // it is no text
)

// Ask tells about a file in a state, and how to guess the answer to the next question about it.
func (r *Rejects) Ask(s State) (Answer, Mark) {
	name := r.t.h.key.name(s)
	at := r.t.find(name)
	switch mark := markOf(name); {
	case at < 0:
		return Unknown, 0
	case !r.has(at):
		return Read, mark
	case r.t.records[at].flags&flagBinary != 0:
		return Binary, mark
	default:
		return Empty, mark
	}
}

func (r *Rejects) has(at int) bool { return r.out[at>>6]&(1<<(at&63)) != 0 }

// Mark is a part of a state's name, by which a file is known that was asked about before. The zero
// value is none. Nothing may be left out for it: the file may be another since.
type Mark uint32

func markOf(name uint64) Mark { return max(Mark(name>>32), 1) }

// Read guesses that a file will be read, so that its state need not be asked for.
func (r *Rejects) Read(m Mark) bool {
	at := r.marked(m)
	return at >= 0 && !r.has(at)
}

// marked is the first record with a mark, or -1.
func (r *Rejects) marked(m Mark) int {
	if m == 0 {
		return -1
	}
	low, high := r.t.around(uint64(m) << 32)
	for at := low; at < high; at++ {
		if found := markOf(r.t.records[at].name); found >= m {
			if found > m {
				return -1
			}
			return at
		}
	}
	return -1
}
