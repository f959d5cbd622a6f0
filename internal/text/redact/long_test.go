package redact

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
)

// A secret in a long text is found wherever the pieces are cut, and in whatever spelling of JSON.
func TestALongTextIsMaskedAsAWhole(t *testing.T) {
	key, own := "ghp_"+strings.Repeat("aB3dE5gH7j", 4)[:36], `own "word" of é`
	m := New(own)
	for _, secret := range []string{key, own, "Authorization: Bearer abc.def-ghi"} {
		for _, filler := range []string{"a line of prose\n", "é😀\"\\\n", "x y "} {
			for _, shift := range []int{len(secret) % 30, 31} { // the cut lies somewhere in it
				before := strings.Repeat(filler, (longStep*3-30)/len(filler)) + strings.Repeat(" ", shift)
				s := before + "\n" + secret + "\n" + strings.Repeat(filler, long/len(filler))
				raw, _ := json.Marshal(s) // a string always encodes
				if shift%2 == 1 {
					raw = []byte(strings.ReplaceAll(string(raw), "😀", `\ud83d\ude00`))
				}
				var got string
				if err := json.Unmarshal(m.JSON(raw), &got); err != nil || got != m.Text(s) || strings.Contains(got, secret) {
					t.Fatalf("%q behind %d bytes: %v, masked %t", secret, len(before), err, strings.Contains(got, Mark))
				}
			}
		}
	}
}

// Pieces are whole: they hold together as one text.
func FuzzPieces(f *testing.F) {
	for _, s := range []string{`a\\\"b`, "é\U0001F600\u2028", "\x01\x02\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw, _ := json.Marshal(strings.Repeat(s+"x", longStep/(len(s)+1)*2)) // a string always encodes
		var whole, joined string
		if err := json.Unmarshal(raw, &whole); err != nil {
			t.Fatal(err)
		}
		for rest := raw[1 : len(raw)-1]; len(rest) > 0; {
			n := pieceOf(rest)
			var piece string
			if err := json.Unmarshal([]byte(fmt.Sprintf(`"%s"`, rest[:n])), &piece); err != nil {
				t.Fatal(err)
			}
			joined, rest = joined+piece, rest[n:]
		}
		if joined != whole {
			t.Errorf("%q does not hold together", s)
		}
	})
}

// A long text without secrets is looked through and not copied.
func TestALongTextIsNotCopied(t *testing.T) {
	if effort.Race {
		t.Skip("the race detector allocates more")
	}
	raw, _ := json.Marshal(map[string]string{"text": strings.Repeat("the \"quick\" brown fox, [masked] once\n", 4<<20/38)})
	m := New("something-else-0123")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out := m.JSON(raw)
	runtime.ReadMemStats(&after)
	if &out[0] != &raw[0] {
		t.Error("it came back as another one")
	}
	// Piece by piece, nothing lives long: what counts is that no copy is as large as the text.
	if used := int(after.TotalAlloc - before.TotalAlloc); used > 8*len(raw) {
		t.Errorf("%d bytes took %d", len(raw), used)
	}
}
