package repair

import (
	"bytes"
	"cmp"
	"slices"

	"adze/internal/sessiondb"
	"adze/session"
)

// proof is how far a row is known to be as it was written.
type proof int

const (
	proven   proof = iota // its hash fits what it holds, where it stands and what stands before it
	unproven              // what stood before it is missing or cannot be trusted itself, so nothing tells
	altered               // it does not fit what stands before it, which is as it was written
)

// placed is a row and where it belongs.
type placed struct {
	sessiondb.Raw
	at    int64
	proof proof
	hash  []byte // what stands behind it was chained to; Hash, unless that was changed
}

// maxShift is by how much the numbers of rows may have been moved together and are still found;
// maxLoose how many pieces of a log are tried at each other, maxTries how many places for two of
// them. They bound the work for a log that is noise.
const (
	maxShift = 64
	maxLoose = 2000
	maxTries = 1_000_000
)

// piece is a run of rows each of which is chained to the one before it.
type piece struct {
	rows   []sessiondb.Raw
	shift  int64 // from their numbers to where they belong
	known  bool  // it holds for them, since two fit
	joined bool  // the first one fits what stands before it
	hash   []byte
}

func (p *piece) first() sessiondb.Raw { return p.rows[0] }
func (p *piece) start() int64         { return p.rows[0].Seq + p.shift }
func (p *piece) end() int64           { return p.rows[len(p.rows)-1].Seq + p.shift }
func (p *piece) last() []byte {
	if p.hash != nil {
		return p.hash
	}
	return p.rows[len(p.rows)-1].Hash
}

// order puts the rows of a log where they belong and says what is known of each. The chain decides,
// not the numbers: a row that was moved, or all that follow one that was taken out, are found by
// their hashes.
func order(log sessiondb.RawLog) []placed {
	o := orderer{id: log.ID, tip: log.Tip, pieces: split(log)}
	o.join()
	o.align()
	rows := o.flat()
	judge(rows, len(log.Rows) > 1 && !slices.ContainsFunc(o.pieces, func(p *piece) bool { return p.joined || p.known }))
	return rows
}

// split cuts a log where a row does not fit the one before it.
func split(log sessiondb.RawLog) (pieces []*piece) {
	var p *piece
	for _, r := range log.Rows {
		most := int64(maxShift)
		if len(pieces) > maxLoose {
			most = 0
		}
		if p == nil || !p.takes(log.ID, r, most) {
			p = &piece{rows: []sessiondb.Raw{r}}
			pieces = append(pieces, p)
		}
	}
	return pieces
}

// takes adds a row that is chained to the last one, and whose number was moved by so much at most.
func (p *piece) takes(id session.ID, r sessiondb.Raw, most int64) bool {
	before := p.rows[len(p.rows)-1].Hash
	fits := func(shift int64) bool { return bytes.Equal(r.Sum(id, r.Seq+shift, before), r.Hash) }
	for by := int64(0); by <= most; by++ {
		for _, shift := range []int64{by, -by} {
			if p.known {
				shift = p.shift
			}
			if fits(shift) {
				p.shift, p.known, p.rows = shift, true, append(p.rows, r)
				return true
			}
			if p.known {
				return false
			}
		}
	}
	return false
}

type orderer struct {
	id     session.ID
	tip    []byte
	pieces []*piece
	tries  int
}

// join hangs pieces on each other, from the beginning and then from each that nothing leads to.
func (o *orderer) join() {
	if len(o.pieces) > maxLoose {
		return
	}
	o.follow(0, nil)
	for _, p := range slices.SortedStableFunc(slices.Values(o.pieces), func(a, b *piece) int { return cmp.Compare(a.start(), b.start()) }) {
		o.follow(p.end(), p)
	}
	for o.pair() {
	}
}

// pair finds two pieces that belong together, wherever that is: rows that were moved, and what
// stood before them is gone.
func (o *orderer) pair() bool {
	last := int64(len(o.pieces))
	for _, p := range o.pieces {
		last = max(last, p.end())
	}
	for _, y := range o.pieces {
		if y.joined {
			continue
		}
		for _, p := range o.pieces {
			from, to := int64(2), last+maxShift
			if y.known {
				from, to = y.start(), y.start()
			}
			if p.joined || p.known {
				from, to = max(from, p.end()+1), min(to, p.end()+1)
			}
			for at := from; at <= to && p != y && o.tries < maxTries; at++ {
				if o.tries++; bytes.Equal(y.first().Sum(o.id, at, p.last()), y.first().Hash) {
					p.shift += at - 1 - p.end()
					p.known, y.joined, y.shift = true, true, at-y.first().Seq
					return true
				}
			}
		}
	}
	return false
}

// follow joins what fits behind a piece (nil: the beginning), and behind that.
func (o *orderer) follow(at int64, from *piece) {
	for {
		var before []byte
		if from != nil {
			before = from.last()
		}
		next := o.behind(at, before)
		if next == nil {
			next = o.unhashed(at, before)
		}
		if next == nil {
			return
		}
		next.joined, next.shift = true, at+1-next.first().Seq
		at, from = next.end(), next
	}
}

// align has a row of which nothing is known go with its neighbours: their numbers were moved
// together.
func (o *orderer) align() {
	for i, p := range o.pieces {
		if p.joined || p.known {
			continue
		}
		switch {
		case i > 0 && len(o.pieces[i-1].rows) > 1 && o.pieces[i-1].shift != 0:
			p.shift = o.pieces[i-1].shift
		case i+1 < len(o.pieces) && len(o.pieces[i+1].rows) > 1:
			p.shift = o.pieces[i+1].shift
		}
	}
}

// behind finds the piece whose first row is chained to a hash.
func (o *orderer) behind(at int64, before []byte) *piece {
	for _, p := range o.pieces {
		if !p.joined && bytes.Equal(p.first().Sum(o.id, at+1, before), p.first().Hash) {
			return p
		}
	}
	return nil
}

// unhashed finds a row of which only the hash was changed: what stands behind it, or what is noted
// of the end, is chained to the one that it had.
func (o *orderer) unhashed(at int64, before []byte) *piece {
	for _, p := range o.pieces {
		if p.joined || len(p.rows) > 1 || p.first().Seq != at+1 {
			continue
		}
		sum := p.first().Sum(o.id, at+1, before)
		if bytes.Equal(sum, o.tip) || o.behind(at+1, sum) != nil {
			p.hash = sum
			return p
		}
	}
	return nil
}

// flat lists the rows where they belong; of two at one place the one that fits comes first.
func (o *orderer) flat() (out []placed) {
	for _, p := range o.pieces {
		for i, r := range p.rows {
			row := placed{Raw: r, at: r.Seq + p.shift, hash: r.Hash}
			if i == 0 && !p.joined {
				row.proof = unproven
			}
			if i == len(p.rows)-1 {
				row.hash = p.last()
			}
			out = append(out, row)
		}
	}
	slices.SortStableFunc(out, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.proof, b.proof))
	})
	return out
}

// judge tells the rows that were changed from those of which nothing can be known. A log of which
// no two rows fit says nothing about any of them: it is known under another id.
func judge(rows []placed, foreign bool) {
	at, trusted := int64(0), true // of the last row: where, and whether its hash is the one it was written with
	for i := range rows {
		r := &rows[i]
		single := i+1 == len(rows) || rows[i+1].at != r.at+1 || rows[i+1].proof != proven
		switch {
		case r.proof == proven || foreign:
		case r.at <= at, r.at == at+1 && trusted:
			r.proof = altered
		}
		if r.at == at && i > 0 {
			continue
		}
		at, trusted = r.at, r.proof == proven || !single
	}
}
