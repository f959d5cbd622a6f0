//go:build linux || darwin

package live

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/session"
)

// TestPiecesAreWrittenTogether checks that pieces that gather are one line in one write. A line
// that does not wait takes them along at once.
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
	gathered := make(chan time.Time)
	rests := make(chan struct{}, 100)
	o.gather = func(most time.Duration) <-chan time.Time {
		if most != gathering {
			t.Errorf("lines gather for %s", most)
		}
		rests <- struct{}{}
		return gathered
	}

	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "pair"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("unix", filepath.Join(dir, "pair"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	conn, err := listener.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	w := newWatcher(conn, o, watch{Only: "state"}) // it has no log
	w.all = true
	o.mu.Lock()
	o.catchUp(w)
	o.watchers[w] = struct{}{}
	o.mu.Unlock()
	go func() {
		defer close(w.done)
		w.lines()
	}()
	defer w.end()
	<-rests // all that there was is written

	written := func() string {
		t.Helper()
		buf := make([]byte, 1<<20)
		n, err := client.Read(buf)
		if err != nil && err != io.EOF {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
	var want strings.Builder
	tell := func(n int) {
		for i := range n {
			fmt.Fprint(&want, i)
			o.Observe(session.TextDelta{Message: "m", Delta: fmt.Sprint(i)})
		}
	}
	tell(1000)
	gathered <- time.Time{}
	<-rests
	one := written()
	if kindOf([]byte(one)) != "text" || strings.Count(one, "\n") != 1 {
		t.Errorf("a thousand pieces are %d lines: %.200s", strings.Count(one, "\n"), one)
	}
	tell(1000)
	o.Observe(session.Notice{Text: "now"})
	<-rests
	two := written()
	if strings.Count(two, "\n") != 2 || !bytes.Contains([]byte(two), []byte(`"now"`)) {
		t.Errorf("a notice came as %.200s", two)
	}
}
