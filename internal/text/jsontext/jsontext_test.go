package jsontext

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
)

// plainly is what encoding/json makes of a text.
func plainly(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

func FuzzAppend(f *testing.F) {
	for _, s := range []string{"", "a", "<&>\"\\\n\t\x00\x7f", "é\u2028\U0001F600", "\xff\x80\x80\x80\x80", "\xed\xa0\x80", "\xf0\x9f\x98", "é\x80\x9f\x980"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for shift := range 8 { // so that the cut falls everywhere
			long := strings.Repeat("x", piece-4+shift) + s
			if got := string(Append(nil, long)); got != plainly(long) || Size(long) != len(got) {
				t.Fatalf("%q behind %d bytes became %q", s, piece-4+shift, got[piece-8:])
			}
		}
	})
}

// A long text costs its own length.
func TestALongTextIsNotCopied(t *testing.T) {
	if effort.Race {
		t.Skip("the race detector allocates more")
	}
	long := strings.Repeat("a \"line\" of prose\n", 1<<18)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out := Append(make([]byte, 0, Size(long)), long)
	runtime.ReadMemStats(&after)
	if used := int(after.TotalAlloc - before.TotalAlloc); used > len(out)+1<<20 {
		t.Errorf("%d bytes took %d", len(out), used)
	}
}
