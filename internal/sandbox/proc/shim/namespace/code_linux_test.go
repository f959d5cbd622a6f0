package namespace

import (
	"slices"
	"testing"
)

// What is sent is what the shim would have put together itself, and rubbish is no filter.
func TestAFilterTravelsAsItIs(t *testing.T) {
	for _, f := range []Filter{OwnNet, NoSockets} {
		for _, views := range [][]Mount{nil, {{Kind: View}}} {
			b := Box{Filter: f, Mounts: views}
			want := f.program(here(), b.terms())
			b.Code = b.Compiled()
			sent, ok := Parse(b.Fields())
			got, err := sent.Code.read()
			if !ok || err != nil || !slices.Equal(got, want) {
				t.Errorf("%c, views %v: %d instructions are read back as %d: %v %v", f, views, len(want), len(got), ok, err)
			}
		}
	}
	for _, code := range []Code{"0", "0123456789abcde", "0123456789abcdeg", "0123456789ABCDEF"} {
		if _, err := (Box{Filter: OwnNet, Code: code}).install(); err == nil {
			t.Fatalf("%q was taken for a filter", code)
		}
	}
	if code := (Box{}).Compiled(); code != "" {
		t.Errorf("a box without a filter has one of %d", len(code))
	}
}
