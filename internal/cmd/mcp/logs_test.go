package mcp

import (
	"context"
	"errors"
	"testing"
)

func TestALogIsFollowedByWhatIsFresh(t *testing.T) {
	for _, c := range []struct{ before, now, want string }{
		{"", "a\n", "a\n"},
		{"a\nb\n", "a\nb\nc\n", "c\n"},
		{"a\nb\n", "b\nc\n", "c\n"}, // its beginning is gone
		{"a\nb\n", "x\n", "x\n"},
		{"a\n", "a\n", ""},
	} {
		if got := fresh(c.before, c.now); got != c.want {
			t.Errorf("%q, then %q: %q, not %q", c.before, c.now, got, c.want)
		}
	}
	says := []string{"a\nb\n", "a\nb\n", "a\nb\nc\n"}
	read := func() string {
		text := says[0]
		if len(says) > 1 {
			says = says[1:]
		}
		return text
	}
	var shown string
	enough := errors.New("enough")
	err := followed(context.Background(), func(context.Context) error { return nil }, "a\n", read, func(text string) error {
		if shown += text; shown == "b\nc\n" {
			return enough
		}
		return nil
	})
	if err != enough || shown != "b\nc\n" {
		t.Errorf("%q, %v", shown, err)
	}
}
