package text

import (
	"io"
	"strings"
	"testing"
)

func TestAShortTextIsReadWithAShortBuffer(t *testing.T) {
	long := strings.NewReader(strings.Repeat("x", 1<<20))
	for name, c := range map[string]struct {
		r        io.ReaderAt
		at, want int64
	}{
		"short":      {strings.NewReader("abc"), 1, 3},
		"behind it":  {strings.NewReader("abc"), 7, 1},
		"long":       {long, 0, 64 << 10},
		"its end":    {long, 1<<20 - 9, 10},
		"any length": {struct{ io.ReaderAt }{long}, 0, 64 << 10},
	} {
		if got := bufferFor(c.r, c.at); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}
