package script_test

import (
	"runtime"
	"strings"
	"testing"

	"adze/internal/llm/script"
)

// TestALongStepIsReadInOnePass: a step of many continued lines takes memory in proportion to its
// length.
func TestALongStepIsReadInOnePass(t *testing.T) {
	text := "-- 1 --\ncall write: {\"a\":\"b\"" + strings.Repeat(",\n  \"key\":\"some text that makes a line\"", 20_000) + "}\n"
	p := script.New(script.Options{Name: "long", Script: []byte(text)})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := p.Check("long"); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 30*uint64(len(text)) {
		t.Errorf("%d bytes were allocated for %d of text", took, len(text))
	}
}
