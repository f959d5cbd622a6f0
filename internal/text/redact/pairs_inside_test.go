package redact

import (
	"slices"
	"testing"
)

// TestIndexTellsOfEachPairWhatTheKindsSay: seconds share lists, and rows of the table are copied.
func TestIndexTellsOfEachPairWhatTheKindsSay(t *testing.T) {
	x, outer, inner := newIndex(), kinds(), innerKinds()
	names := func(list []kind) (out []string) {
		for _, k := range list {
			out = append(out, k.prefix)
		}
		return out
	}
	may := func(list []kind, second byte, third *byteSet) (out []kind) {
		for _, k := range list {
			if seconds := k.bytesAt(1); seconds.has(second) {
				out = append(out, k)
				for n, bits := range k.bytesAt(2) {
					third[n] |= bits
				}
			}
		}
		return out
	}
	for a := range 256 {
		for b := range 256 {
			first, second := byte(a), byte(b)
			var third byteSet
			wantOuter, wantInner := may(outer[a], second, &third), may(inner[a], second, &third)
			got := x.at(string([]byte{first, second}), 0)
			if !slices.Equal(names(got.outer), names(wantOuter)) || !slices.Equal(names(got.inner), names(wantInner)) || got.third != third {
				t.Fatalf("%q begins %q and %q, want %q and %q", []byte{first, second}, names(got.outer), names(got.inner), names(wantOuter), names(wantInner))
			}
			begins := wantOuter != nil || wantInner != nil || escape(first)
			enters := !word(second) || !word(first) && outer[b] != nil || inner[b] != nil && (second == '_' || isLower(first))
			if bits := x.pairs[pairOf(first, second)]; bits&pairBegins != 0 != begins || bits&pairEnters != 0 != enters {
				t.Fatalf("%q: %b, want begins %v, enters %v", []byte{first, second}, bits, begins, enters)
			}
		}
	}
}
