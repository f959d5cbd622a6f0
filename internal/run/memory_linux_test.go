package run_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"adze/internal/testkit/effort"
)

// memoryOf is the peak of a run, in bytes, whose model writes so much.
func memoryOf(t *testing.T, format string, bytesOfText int) int {
	t.Helper()
	piece, _ := json.Marshal(strings.Repeat("The quick brown fox <jumps> over \"lazy\" dogs.\n", 64)) // a string always encodes
	u := newUser(t)
	u.serve(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for sent := 0; sent < bytesOfText; sent += len(piece) {
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", piece)
		}
		io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	})
	cmd := u.command("-p", "--model", "openai/m", "--output-format", format, "go")
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &errs
	if err := cmd.Run(); err != nil {
		t.Fatal(err, errs.String())
	}
	return int(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) << 10
}

// A long answer is held once as text and once as the entry of the log, of which SQLite takes two
// copies: no more. With 18 MB of it a run has 100 MB at its peak.
func TestMemoryOfALongAnswer(t *testing.T) {
	if effort.Race {
		t.Skip("the race detector doubles the memory of what it watches")
	}
	const size = 8 << 20
	for _, format := range []string{"text", "stream-json"} {
		short, long := memoryOf(t, format, 1000), memoryOf(t, format, size)
		t.Logf("%s: %d MiB, of a short answer %d", format, long>>20, short>>20)
		if taken := long - short; taken > 5*size+8<<20 {
			t.Errorf("%s: an answer of %d MiB takes %d MiB", format, size>>20, taken>>20)
		}
	}
}
