package conformance_test

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/rogpeppe/go-internal/txtar"

	"adze/session"
)

// fuzz feeds any bytes to the parser of a format: it must not panic, must keep what holds for every
// stream, and must not depend on how the bytes are split. The written cases are the corpus.
func fuzz(f *testing.F, w Wire, folder string) {
	names, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(names) == 0 {
		f.Fatalf("no cases in %s (%v)", folder, err)
	}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if file.Name == "response" {
				f.Add(file.Data)
			}
		}
	}
	for _, a := range samples() {
		if len(a.Calls) == 0 || len(a.Calls[0].Arguments) < 1000 {
			f.Add([]byte(w.Encode(a).Body))
		}
	}
	kind := w.Encode(Answer{}).ContentType
	f.Fuzz(func(t *testing.T, stream []byte) {
		whole := answer(t, w, kind, func() io.Reader { return bytes.NewReader(stream) })
		split := answer(t, w, kind, func() io.Reader { return iotest.HalfReader(bytes.NewReader(stream)) })
		if whole.String() != split.String() {
			t.Errorf("whole:\n%s\nsplit:\n%s", whole, split)
		}
		if whole.done.Err == nil && whole.done.Stop == session.StopError {
			t.Errorf("a failure without a reason: %s", whole)
		}
	})
}
