package proc

import (
	"os"
	"strings"
	"testing"
	"time"
)

// What a command has written is kept whole, however late its reader comes to it.
func TestALateReaderLosesNothing(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close() // a stranger holds it: there is no end
	if _, err := w.WriteString("working\n" + strings.Repeat("x", 50_000)); err != nil {
		t.Fatal(err)
	}
	if err := r.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	p := newProcess(Command{})
	p.read(r, p.out)
	if text := p.out.Text(); text.Bytes != 50_008 || !strings.HasPrefix(text.Head, "working\n") {
		t.Errorf("%d bytes were kept", text.Bytes)
	}
}
