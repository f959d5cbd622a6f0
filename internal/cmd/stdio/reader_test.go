package stdio_test

import (
	"os"
	"testing"

	"adze/internal/cmd/stdio"
)

// TestAReaderThatLeavesIsNoticed though nothing is written; a file has none that could leave.
func TestAReaderThatLeavesIsNoticed(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	gone := make(chan struct{})
	stdio.WatchReader(t.Context(), w, func() { close(gone) })
	select {
	case <-gone:
		t.Fatal("the reader is there, and was said to be gone")
	default:
	}
	r.Close()
	<-gone
	file, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stdio.WatchReader(t.Context(), file, func() { t.Error("a file has no reader that leaves") })
}
