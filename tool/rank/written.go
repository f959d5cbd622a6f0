package rank

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"sort"
)

// An index that is written down has numbers of fixed size, so that of hundreds of tools only the
// words of a query are read:
//
//	magic, SHA-256 of the rest
//	numbers of tools and terms, bytes of all stems
//	of each term: where its stem ends; its place among the sorted ones; where its postings end
//	stems, postings
const (
	writtenMagic  = "adze bm25 index 1\n"
	writtenHead   = len(writtenMagic) + sha256.Size
	writtenCounts = 3 * 4
	postingSize   = 4 + int(fields) + 8
)

var errNoIndex = errors.New("it is no index of these tools")

// written are the parts of an index that was.
type written struct{ sorted, ends, postings []byte }

func number(list []byte, i int) int { return int(binary.LittleEndian.Uint32(list[4*i:])) }

// Encode writes an index of this scorer down; one of another gives nothing.
func (b BM25) Encode(index Index) []byte {
	x, mine := index.(*bm25Index)
	if !mine || x.terms == nil {
		return nil
	}
	sorted := make([]int, len(x.names))
	for i := range sorted {
		sorted[i] = i
	}
	sort.Slice(sorted, func(a, b int) bool { return x.names[sorted[a]] < x.names[sorted[b]] })
	var stems, postings, ends, places, found []byte
	put := binary.LittleEndian.AppendUint32
	for i, name := range x.names {
		stems = append(stems, name...)
		ends, places = put(ends, uint32(len(stems))), put(places, uint32(sorted[i]))
		for _, p := range x.postings[i] {
			postings = put(postings, uint32(p.doc))
			postings = append(postings, p.counts[:]...)
			postings = binary.LittleEndian.AppendUint64(postings, math.Float64bits(p.tf))
		}
		found = put(found, uint32(len(postings)/postingSize))
	}
	head := put(put(put(nil, uint32(x.docs)), uint32(len(x.names))), uint32(len(stems)))
	body := bytes.Join([][]byte{head, ends, places, found, stems, postings}, nil)
	sum := sha256.Sum256(body)
	return append(append([]byte(writtenMagic), sum[:]...), body...)
}

// Decode reads what Encode wrote of n tools. Postings are read when a query asks for them.
func (b BM25) Decode(raw []byte, n int) (Index, error) {
	if len(raw) < writtenHead+writtenCounts || string(raw[:len(writtenMagic)]) != writtenMagic {
		return nil, errNoIndex
	}
	body := raw[writtenHead:]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], raw[len(writtenMagic):writtenHead]) {
		return nil, errNoIndex
	}
	docs, terms, stems := number(body, 0), number(body, 1), number(body, 2)
	rest := body[writtenCounts:]
	if docs != n || terms > len(rest)/12 || stems > len(rest)-12*terms {
		return nil, errNoIndex
	}
	ends := rest[:4*terms]
	w := written{sorted: rest[4*terms : 8*terms], ends: rest[8*terms : 12*terms], postings: rest[12*terms+stems:]}
	x := &bm25Index{docs: docs, plain: b.Plain, names: make([]string, terms), written: w}
	all, from := string(rest[12*terms:12*terms+stems]), 0
	for i := range x.names {
		to := number(ends, i)
		if to <= from || to > stems || number(w.sorted, i) >= terms {
			return nil, errNoIndex
		}
		x.names[i], from = all[from:to], to
	}
	if !w.whole(terms) {
		return nil, errNoIndex
	}
	return x, nil
}

// whole reports whether the ends of the postings lie in order within them.
func (w written) whole(terms int) bool {
	from := 0
	for i := range terms {
		to := number(w.ends, i)
		if to < from {
			return false
		}
		from = to
	}
	return from*postingSize == len(w.postings)
}

// term is the number of one among names.
func (w written) term(names []string, stem string) (int, bool) {
	at := sort.Search(len(names), func(i int) bool { return names[number(w.sorted, i)] >= stem })
	if at == len(names) || names[number(w.sorted, at)] != stem {
		return 0, false
	}
	return number(w.sorted, at), true
}

// span is where the postings of a term are.
func (w written) span(term int) (from, to int) {
	if term > 0 {
		from = number(w.ends, term-1)
	}
	return from, number(w.ends, term)
}

func (w written) count(term int) int {
	from, to := w.span(term)
	return to - from
}

// found reads the postings of a term; what is of no tool is passed over.
func (w written) found(term, docs int) []posting {
	from, to := w.span(term)
	out := make([]posting, 0, to-from)
	for ; from < to; from++ {
		one := w.postings[from*postingSize:]
		p := posting{doc: number(one, 0), tf: math.Float64frombits(binary.LittleEndian.Uint64(one[4+int(fields):]))}
		copy(p.counts[:], one[4:])
		if p.doc < docs {
			out = append(out, p)
		}
	}
	return out
}
