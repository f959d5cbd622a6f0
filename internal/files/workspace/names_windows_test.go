package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"adze/internal/files/workspace"
)

func TestWindowsNames(t *testing.T) {
	p := open(t)
	p.put("Read Me.TXT", "text")
	if err := os.MkdirAll(filepath.Join(p.dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"read me.txt": "Read Me.TXT", `.\READ ME.TXT`: "Read Me.TXT", `sub\..\Read Me.TXT`: "Read Me.TXT", `sub\new.txt`: "sub/new.txt",
		p.dir + `\SUB`: "sub", `\\?\` + p.dir + `\sub`: "sub", filepath.ToSlash(p.dir) + "/sub": "sub",
		"/" + strings.ToLower(p.dir[:1]) + filepath.ToSlash(p.dir[2:]) + "/sub": "sub",
	} {
		got, err := p.root.Resolve(name)
		if err != nil || got.Display() != want || got.Outside() {
			t.Errorf("%q is %q, %v; want %q", name, got.Display(), err, want)
		}
	}
	for name, says := range map[string]string{
		"NUL": "device", "nul.txt": "device", "sub/CON": "device", "COM1": "device", `\\.\PhysicalDrive0`: "device", `\\?\GLOBALROOT\x`: "device",
		"a.txt:b": "stream", "a.txt::$DATA": "stream", "C:a.txt": "current folder", "dots.": "drops", "blank ": "drops", "sub./x": "drops", "a*b": "no file name",
	} {
		if got, err := p.root.Resolve(name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q is %q, %v; want an error that says %q", name, got.Display(), err, says)
		}
	}
	for _, name := range []string{`.GIT\hooks\pre-commit`, `sub\.Git\config`, `.Adze\x`} {
		if got, err := p.root.Resolve(name); err != nil || !got.Protected() {
			t.Errorf("%q is not protected: %v", name, err)
		}
	}
}

// TestWindowsAFileThatIsHeld: a file that another program holds is an error that says so, and stays
// as it was.
func TestWindowsAFileThatIsHeld(t *testing.T) {
	p := open(t)
	path := p.put("held.txt", "old")
	at, err := windows.UTF16PtrFromString(path)
	if err != nil {
		t.Fatal(err)
	}
	h, err := windows.CreateFile(at, windows.GENERIC_READ|windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.write("held.txt", "new")
	if err == nil || !strings.Contains(err.Error(), "another program holds") {
		t.Errorf("%v", err)
	}
	_ = windows.CloseHandle(h)
	if _, err := p.write("HELD.txt", "new"); err != nil || p.content("held.txt") != "new" {
		t.Errorf("%v, %q", err, p.content("held.txt"))
	}
	// Who reads it meanwhile keeps nobody from replacing it.
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = p.root.Update(context.Background(), p.resolve("held.txt"), whole("newer"))
	if err != nil {
		var coded *workspace.Error
		if !errors.As(err, &coded) || p.content("held.txt") != "new" {
			t.Errorf("%v, %q", err, p.content("held.txt"))
		}
		t.Logf("a file that is open is not replaced here: %v", err)
	}
}
