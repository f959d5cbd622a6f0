package process_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"adze/internal/cmd"
	"adze/internal/llm/credentials"
	"adze/internal/run/process"
)

// TestNotesGoAsideWhileOthersWrite: an interface takes the terminal while goroutines of a start
// write. Each note arrives once, on one side.
func TestNotesGoAsideWhileOthersWrite(t *testing.T) {
	var out bytes.Buffer
	p := process.New(nil, cmd.Env{Err: &out}, credentials.NewRing(func(string) string { return "" }))
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := range 50 {
				fmt.Fprintf(p.Notes, "note %d of %d\n", i, n)
			}
		})
	}
	var shown []string
	kept := ""
	for range 20 {
		end := p.Notes.Redirect(func(text string) { shown = append(shown, text) })
		kept += string(end())
	}
	wg.Wait()
	if strings.Join(shown, "") != kept {
		t.Errorf("shown are %q, kept %q", shown, kept)
	}
	if n := strings.Count(out.String()+kept, "\n"); n != 200 {
		t.Errorf("%d of 200 notes arrived", n)
	}
	p.TellLosses([]string{"lost"})
	if !strings.HasSuffix(out.String(), "! lost\n") {
		t.Errorf("the last is %q", out.String())
	}
}
