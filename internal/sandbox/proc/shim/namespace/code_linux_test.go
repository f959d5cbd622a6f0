package namespace

import (
	"slices"
	"testing"
)

// What is sent is what the shim would have put together itself, and rubbish is no filter.
func TestAFilterTravelsAsItIs(t *testing.T) {
	for _, f := range []Filter{OwnNet, LocalOnly} {
		for _, blind := range []bool{false, true} {
			b := Box{Filter: f, Blind: blind}
			want := f.program(here(), b.witnessed())
			b.Code = b.Compiled()
			sent, ok := Parse(b.Fields())
			got, err := sent.Code.read()
			if !ok || err != nil || !slices.Equal(got, want) {
				t.Errorf("%c, blind %v: %d instructions are read back as %d: %v %v", f, blind, len(want), len(got), ok, err)
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
