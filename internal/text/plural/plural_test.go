package plural_test

import (
	"testing"

	"adze/internal/text/plural"
)

func TestOf(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{plural.Of(1, "file"), "1 file"},
		{plural.Of(0, "file"), "0 files"},
		{plural.Of(2, "more entry"), "2 more entries"},
		{plural.Of(3, "day"), "3 days"},
		{plural.Of(int64(1), "process"), "1 process"},
		{plural.Of(int64(12), "process"), "12 processes"},
		{plural.Of(2, "match"), "2 matches"},
		{plural.Of(2, "path"), "2 paths"},
		{plural.Of(2, "box"), "2 boxes"},
		{plural.Noun(2.5, "character"), "characters"},
		{plural.Noun(1, "row"), "row"},
		{plural.Noun(2, "reply"), "replies"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
