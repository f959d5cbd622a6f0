package claims

import (
	"runtime"
	"strings"
	"testing"
)

// An answer is read in memory that grows with its length: it stands between its last byte and the
// prompt.
func TestALongAnswerIsReadInLinearMemory(t *testing.T) {
	read := func(lines int) uint64 {
		text := strings.Repeat("All the “tests” of it pass, e.g. those\n", lines)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, b := range blocks(text) {
			sentences(tokens(b.text))
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	read(1)
	few, many := read(100), read(1000)
	if many > 20*few {
		t.Errorf("100 lines take %d bytes, 1,000 lines %d", few, many)
	}
}
