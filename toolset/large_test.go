package toolset

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"adze/internal/testkit/effort"
)

// TestLargeFilesAreReadAndEditedInLittleMemory reads far into a file of 24 MB, or, when
// long, of 1 GB, and edits it near its end. What is allocated altogether
// stays below 4 MiB whatever the size; mode, mark and line ends are kept. A long run tells the
// times beside those of sed.
func TestLargeFilesAreReadAndEditedInLittleMemory(t *testing.T) {
	size, long := effort.Rounds(24<<20, 24<<20, 1<<30), effort.Is(effort.Long)
	d := newDesk(t)
	path, lines := marked(t, d.dir, size)
	took := func(what string, f func()) {
		t.Helper()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		f()
		wall := time.Since(start)
		runtime.ReadMemStats(&after)
		held := after.TotalAlloc - before.TotalAlloc
		if t.Logf("%-30s %8.1f ms, %4d KiB allocated", what, wall.Seconds()*1000, held>>10); held > 4<<20 {
			t.Errorf("%s allocated %d KiB", what, held>>10)
		}
	}
	far := lines / 10 * 9
	text := fmt.Sprintf("line %d of", far)
	for _, which := range []string{"read, first", "read, second"} {
		took(which, func() {
			d.want(d.call("read", args{"path": "large.txt", "offset": far, "limit": 100}), "", text, fmt.Sprintf("continue with offset %d", far+100))
		})
	}
	took("edit", func() {
		d.want(d.call("edit", args{"path": "large.txt", "old_string": text, "new_string": "line x of"}), "")
	})
	took("edit of 1,000 places", func() {
		d.want(d.call("edit", args{"path": "large.txt", "old_string": " and rare", "new_string": " and common", "replace_all": true}), "", "1000 places")
	})
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info, err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	head := make([]byte, 200)
	if _, err := io.ReadFull(f, head); err != nil || !strings.HasPrefix(string(head), "\ufeffline 1 of") || !strings.Contains(string(head), " and common\r\n") {
		t.Errorf("begins with %q, %v", head, err)
	}
	if long {
		for _, script := range []string{fmt.Sprintf("%d,%dp;%dq", far, far+99, far+99), "s/line " + fmt.Sprint(far+1) + " of/line y of/"} {
			program := []string{"-n", script, path}
			if strings.HasPrefix(script, "s") {
				program = []string{"-i", script, path}
			}
			took("sed "+script, func() {
				if out, err := exec.Command("sed", program...).CombinedOutput(); err != nil {
					t.Logf("%v %s", err, out)
				}
			})
		}
	}
}

// marked writes a file with a mark at its start, CRLF, numbered lines and something rare in 1,000
// of them. It returns how many lines there are.
func marked(t *testing.T, dir string, size int) (path string, lines int) {
	t.Helper()
	path = filepath.Join(dir, "large.txt")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o640)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	_, _ = w.WriteString("\ufeff")
	for at := 0; at < size; lines++ {
		end := "\r\n"
		if lines < 1000 {
			end = " and rare\r\n"
		}
		n, _ := fmt.Fprintf(w, "line %d of a file that is too large to be held in memory%s", lines+1, end)
		at += n
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return path, lines
}
