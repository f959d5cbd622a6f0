package redact_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/text/redact"
)

// The speeds of a whole text and of a stream in pieces, for text in which little looks like the
// beginning of a secret and for source code. CI compares nothing: machines differ.
func BenchmarkMask(b *testing.B) {
	m := redact.New(own, "another-known-value-0123456789", "Zq3-"+own)
	for name, text := range map[string]string{"output": output(1 << 22), "numbers": strings.Repeat("12 345\n", 1<<19), "source": source(b, 1<<22)} {
		b.Run(name+"/text", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				m.Text(text)
			}
		})
		b.Run(name+"/stream", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s := m.Stream()
				for at := 0; at < len(text); at += 32 << 10 {
					s.Write(text[at:min(at+32<<10, len(text))])
				}
				s.End()
			}
		})
	}
}

// output is what a build or a long listing prints.
func output(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "line %d of the long output of a program, which goes on and on\n", i)
	}
	return b.String()
}

func goroot(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("go is not there: ", err)
	}
	return strings.TrimSpace(string(out))
}

// source is code of the standard library.
func source(t testing.TB, size int) string {
	var b strings.Builder
	for _, folder := range []string{"net/http", "go/types", "encoding/json", "crypto/tls", "os"} {
		files, _ := filepath.Glob(filepath.Join(goroot(t), "src", folder, "*.go"))
		for _, name := range files {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(raw)
		}
	}
	if b.Len() == 0 {
		t.Skip("no source of the standard library")
	}
	return b.String()[:min(size, b.Len())]
}
