package kern

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"adze/internal/testkit/effort"
)

// finder is a kernel, or its twin.
type finder interface {
	Find(text []byte, from int, places []uint32) (n, next int)
}

// all gathers the places that a finder names from a place on, through a buffer of some size.
func all(t testing.TB, f finder, text []byte, from, room int) []uint32 {
	t.Helper()
	var found []uint32
	places := make([]uint32, room)
	for at := from; at < len(text); {
		n, next := f.Find(text, at, places)
		if next <= at && n == 0 || next > len(text) {
			t.Fatalf("the search goes from %d to %d of %d with %d places", at, next, len(text), n)
		}
		for _, p := range places[:n] {
			if int(p) < at || int(p) >= len(text) {
				t.Fatalf("place %d, searched from %d to %d", p, at, len(text))
			}
		}
		found = append(found, places[:n]...)
		at = next
	}
	return found
}

// sample makes a text of few different bytes, so that much of it is a candidate, with random spare
// capacity.
func sample(rng *rand.Rand, size int) []byte {
	text := make([]byte, size, size+rng.IntN(2*Slack))
	for i := range text[:cap(text)] {
		text[:cap(text)][i] = "abAB \n\x80\xffz_"[rng.IntN(10)]
	}
	return text
}

// plainPair is what a Pair means, in the plainest words.
func plainPair(p *Pair, text []byte, from int) (places []uint32) {
	for at := from; at+max(p.Distances[0], p.Distances[1]) < len(text); at++ {
		if text[at+p.Distances[0]]|p.Masks[0] == p.Bytes[0] && text[at+p.Distances[1]]|p.Masks[1] == p.Bytes[1] {
			places = append(places, uint32(at))
		}
	}
	return places
}

// plainRuns are the starts of the runs.
func plainRuns(r *Runs, text []byte, from int) (places []uint32) {
	for at := from; at < len(text); {
		end := at
		for end < len(text) && r.Class.Has(text[end]) {
			end++
		}
		if end-at >= r.Min {
			places = append(places, uint32(at))
		}
		at = max(end, at+1)
	}
	return places
}

// check compares kernels and twins on one text.
func check(t testing.TB, rng *rand.Rand, text []byte) {
	t.Helper()
	from, room := 0, width+rng.IntN(70)
	if len(text) > 0 {
		from = rng.IntN(len(text))
	}
	pick := func() byte { return "abz_ \xff"[rng.IntN(6)] }
	p := Pair{Bytes: [2]byte{pick(), pick()}, Distances: [2]int{rng.IntN(70), rng.IntN(5)}}
	for k, b := range p.Bytes {
		if b >= 'a' && b <= 'z' && rng.IntN(2) == 0 {
			p.Masks[k] = 0x20
		}
	}
	twin := p
	twin.Plain = true
	same(t, p, all(t, &p, text, from, room), all(t, &twin, text, from, room), plainPair(&p, text, from))

	var w Window
	for k := range 1 + rng.IntN(8) {
		for position := range span {
			if rng.IntN(8) == 0 {
				w.Any(k, position)
			}
			for range 1 + rng.IntN(3) {
				w.Add(k, position, pick())
			}
		}
	}
	plain := w
	plain.Plain = true
	var want []uint32
	for at := from; at < len(text); at++ {
		if w.At(text, at) != 0 {
			want = append(want, uint32(at))
		}
	}
	same(t, w, all(t, &w, text, from, room), all(t, &plain, text, from, room), want)
	checkRuns(t, rng, text, from, room)
	checkMarks(t, rng, text, from, pick)
}

// checkMarks compares the marks of Quads and Classes with what they mean, and that those that were
// there stay.
func checkMarks(t testing.TB, rng *rand.Rand, text []byte, from int, pick func() byte) {
	t.Helper()
	words := (len(text) - from - quad + 1) / wordBits
	if words < 1 {
		return
	}
	marks := make([]uint64, 1+rng.IntN(words))
	for i := range marks {
		marks[i] = 1 << rng.IntN(wordBits)
	}
	before := slices.Clone(marks)
	var q Quads
	sets := [8][quad][]byte{}
	for k := range 1 + rng.IntN(8) {
		for position := range quad {
			b := pick()
			for _, b := range []byte{b, b ^ 0x10} { // one half of a byte is the same, so that the set is exact
				sets[k][position] = append(sets[k][position], b)
				q.Add(k, position, b)
			}
		}
	}
	twin := slices.Clone(marks)
	q.Mark(text, from, marks)
	q.twin(text, from, twin)
	if !slices.Equal(marks, twin) {
		t.Fatalf("%+v: the kernel marks %x, its twin %x", q, marks, twin)
	}
	for i := range len(marks) * wordBits {
		is := before[i/wordBits]>>(i%wordBits)&1 != 0
		for _, set := range sets {
			here := true
			for position, of := range set {
				here = here && slices.Contains(of, text[from+i+position])
			}
			is = is || here
		}
		if marked := marks[i/wordBits]>>(i%wordBits)&1 != 0; marked != is {
			t.Fatalf("%+v: place %d of %q: marked is %v", q, from+i, text, marked)
		}
	}
	class := NewClass(func(b byte) bool { return b >= 'a' }, rng.IntN(2) == 0)
	class.Mark(text, from, marks)
	for i := range len(marks) * wordBits {
		if marked := marks[i/wordBits]>>(i%wordBits)&1 != 0; marked != class.Has(text[from+i]) {
			t.Fatalf("place %d of %q: in the class is %v", from+i, text, marked)
		}
	}
}

func checkRuns(t testing.TB, rng *rand.Rand, text []byte, from, room int) {
	t.Helper()
	r := Runs{Min: 2 + rng.IntN(62), Class: NewClass(func(b byte) bool { return b >= 'a' }, rng.IntN(2) == 0)}
	if rng.IntN(2) == 0 {
		r.Min = 2 + rng.IntN(6)
	}
	plain := Runs{Min: r.Min, Class: NewClass(func(b byte) bool { return b >= 'a' }, r.Class.Wide != 0)}
	plain.Class.Plain = true
	got := all(t, &r, text, from, room)
	same(t, r.Min, got, all(t, &plain, text, from, room), got)
	// A long run may be named more than once, the first time where it begins.
	for _, start := range plainRuns(&r, text, from) {
		if !slices.Contains(got, start) {
			t.Fatalf("no run of %d begins at %d (%d bytes from %d): %v", r.Min, start, len(text), from, got)
		}
	}
	for _, at := range got {
		for k := range r.Min {
			if int(at)+k >= len(text) || !r.Class.Has(text[int(at)+k]) {
				t.Fatalf("a run of %d at %d ends after %d", r.Min, at, k)
			}
		}
	}
}

func same(t testing.TB, what any, kernel, twin, want []uint32) {
	t.Helper()
	if !slices.Equal(twin, want) {
		t.Fatalf("%+v: the twin finds %v, want %v", what, twin, want)
	}
	if !slices.Equal(kernel, twin) {
		t.Fatalf("%+v: the kernel finds %v, its twin %v", what, kernel, twin)
	}
}

func TestKernelsAndTwinsNameTheSamePlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	rounds := effort.Rounds(600, 3000, 3000)
	for range rounds {
		size := rng.IntN(300)
		if rng.IntN(10) == 0 {
			size = rng.IntN(3 * wordsAtOnce * wordBits)
		}
		text := sample(rng, size)
		if rng.IntN(3) == 0 {
			run := rng.IntN(len(text) + 1) // long runs
			copy(text[rng.IntN(len(text)+1):], bytes.Repeat([]byte{'a'}, run))
		}
		check(t, rng, text)
	}
	check(t, rng, sample(rng, 3*maxBlock+17))
}

// FuzzKernels does the same with texts of the fuzzer's own.
func FuzzKernels(f *testing.F) {
	f.Add([]byte("some text with abz_ in it, and \xff"), uint64(1), uint8(40))
	f.Fuzz(func(t *testing.T, text []byte, seed uint64, spare uint8) {
		rng := rand.New(rand.NewPCG(seed, 1))
		own := make([]byte, len(text), len(text)+int(spare))
		copy(own, text)
		check(t, rng, own)
	})
}

// BenchmarkKernels measures both on text like a program's.
func BenchmarkKernels(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 1<<20, 1<<20+Slack)
	for i := range text {
		text[i] = " etaoinsrhldcumfpgwybvk(),.;_\n\t=\"ABCDEFGH01234"[min(rng.IntN(46), rng.IntN(46))]
	}
	b.Run("kernel *kern.Quads", func(b *testing.B) {
		q := Quads{}
		for i := range quad {
			q.Add(0, i, "ReFl"[i])
		}
		b.SetBytes(int64(len(text)))
		var marks [wordsAtOnce]uint64
		for b.Loop() {
			for at := 0; at+wordsAtOnce*wordBits+quad <= len(text); at += wordsAtOnce * wordBits {
				q.Mark(text, at, marks[:])
			}
		}
	})
	for _, plain := range []bool{false, true} {
		name := map[bool]string{false: "kernel", true: "twin"}[plain]
		w := Window{Plain: plain}
		for k, s := range []string{"ReF", "Wri", "Ope", "Tem", "kdi"} {
			for i := range s {
				w.Add(k, i, s[i])
			}
		}
		class := NewClass(func(b byte) bool { return b >= 'a' && b <= 'z' }, true)
		class.Plain = plain
		for _, f := range []finder{
			&Pair{Bytes: [2]byte{'k', 'q'}, Distances: [2]int{3, 5}, Plain: plain}, &w, &Runs{Class: class, Min: 20},
		} {
			b.Run(fmt.Sprintf("%s %T", name, f), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				var places [Batch]uint32
				for b.Loop() {
					for at := 0; at < len(text); {
						_, at = f.Find(text, at, places[:])
					}
				}
			})
		}
	}
}
