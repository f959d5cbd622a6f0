//go:build linux || darwin

package live

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"adze/session"
)

// TestPiecesAreWrittenTogether checks that pieces that gather are one line, and that a line that
// does not gather takes them along at once.
func TestPiecesAreWrittenTogether(t *testing.T) {
	dir, err := os.MkdirTemp("", "live") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	o, err := Listen(Config{Folder: filepath.Join(dir, "s"), ID: "one", Hello: func() Hello { return Hello{} }})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close("")
	var gathered func()
	o.later = func(_ time.Duration, do func()) { gathered = do }
	w := newWatcher(nil, o, watch{})
	o.join(w)
	defer o.leave(w)
	queued := func() (lines [][]byte) {
		for _, i := range w.queue {
			if i.kind == eventItem {
				lines = append(lines, i.line)
			}
		}
		w.queue = nil
		return lines
	}
	tell := func() {
		for i := range 1000 {
			o.Observe(session.TextDelta{Message: "m", Delta: fmt.Sprint(i)})
		}
	}
	tell()
	if early := queued(); len(early) > 0 {
		t.Errorf("before they gathered came %q", early)
	}
	gathered()
	if one := queued(); len(one) != 1 || kindOf(one[0]) != "text" {
		t.Errorf("a thousand pieces are %d lines", len(one))
	}
	tell()
	o.Observe(session.Notice{Text: "now"})
	if two := queued(); len(two) != 2 || !bytes.Contains(two[1], []byte(`"now"`)) {
		t.Errorf("a notice came as %.200q", two)
	}
}
