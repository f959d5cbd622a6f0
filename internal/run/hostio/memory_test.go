package hostio

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestMemoryKeepsTheNewestOfEach(t *testing.T) {
	m := NewMemory(t.TempDir(), "/home/ann/calc")
	if got := m.Messages(); got != nil {
		t.Errorf("a new memory holds %q", got)
	}
	for _, text := range []string{"one", "two\nlines", "one", "three"} {
		m.Add(text)
	}
	if got := m.Messages(); !slices.Equal(got, []string{"two\nlines", "one", "three"}) {
		t.Errorf("it holds %q", got)
	}
	if other := NewMemory(filepath.Dir(filepath.Dir(m.path)), "/home/ann/other"); other.Messages() != nil {
		t.Error("two workspaces share a memory")
	}
	info, err := os.Stat(m.path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	m := NewMemory(t.TempDir(), "/w")
	for i := range 300 {
		m.Add(strings.Repeat(string(rune('a'+i%26)), 4000+i))
	}
	info, err := os.Stat(m.path)
	if err != nil || info.Size() > maxMemoryBytes+5000 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	if past := m.Messages(); len(past[len(past)-1]) != 4299 {
		t.Error("the newest text is not there")
	}
}

func TestALongTextHidesNoneThatFollow(t *testing.T) {
	m := NewMemory(t.TempDir(), "/w")
	long, huge := strings.Repeat("a", 100_000), strings.Repeat("b", maxMemoryLine)
	for _, text := range []string{"first", long, huge, "last"} {
		m.Add(text)
	}
	if got := m.Messages(); !slices.Equal(got, []string{"first", long, "last"}) {
		t.Errorf("%d texts, the last of %d bytes", len(got), len(got[len(got)-1]))
	}
	// A file that another version wrote may hold one that is longer.
	f, err := os.OpenFile(m.path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("\"" + huge + "\"\n\"after\"\n")
	}
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	m.Forget([]string{"first"})
	if got := m.Messages(); !slices.Equal(got, []string{long, "last", "after"}) {
		t.Errorf("%d texts", len(got))
	}
}

func TestDroppedFiles(t *testing.T) {
	dir := t.TempDir()
	picture := filepath.Join(t.TempDir(), "a shot's.png")
	text := filepath.Join(dir, "a file.go")
	for path, content := range map[string]string{picture: "\x89PNG\r\n\x1a\n", text: "package a\n"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	drop := DropIn(dir)
	escaped := strings.NewReplacer(" ", `\ `, "'", `\'`).Replace(picture)
	for _, pasted := range []string{escaped, `"` + picture + `"`, "file://" + strings.ReplaceAll(picture, " ", "%20"), "file://localhost" + strings.ReplaceAll(picture, " ", "%20") + "\n"} {
		if d, ok := drop(pasted); !ok || d.Attach != picture {
			t.Errorf("%s: %+v %v", pasted, d, ok)
		}
	}
	if d, ok := drop("'" + text + "'"); !ok || d.Path != "a file.go" || d.Attach != "" {
		t.Errorf("a text file: %+v %v", d, ok)
	}
	for _, pasted := range []string{"see /etc/passwd", "/no/such/file", "a file.go", "file://%zz", "file://" + text + "#L10-L20", "'/etc"} {
		if d, ok := drop(pasted); ok {
			t.Errorf("%q is taken for %+v", pasted, d)
		}
	}
}
