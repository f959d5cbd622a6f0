package workspace_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"adze/internal/files/workspace"
	"adze/internal/testkit/posix"
)

func TestOpenRefusesWhatIsNotARegularFile(t *testing.T) {
	p := open(t)
	p.put("dir/x", "x")
	if err := posix.Fifo(t, filepath.Join(p.dir, "fifo")); err != nil {
		t.Skip("no FIFO here:", err)
	}
	p.link("fifo", "to-fifo")
	p.link("/dev/zero", "zero")
	cases := map[string]string{
		"dir": workspace.IsDirectory, "fifo": workspace.NotRegular, "to-fifo": workspace.NotRegular,
		"none": workspace.NotFound, "/dev/null": workspace.NotRegular, "zero": workspace.NotRegular, ".": workspace.IsDirectory,
	}
	if sock, err := net.Listen("unix", filepath.Join(p.dir, "s")); err == nil {
		defer sock.Close()
		cases["s"] = workspace.NotRegular
	}
	if runtime.GOOS == "linux" {
		cases["/proc/self/environ"] = workspace.NotRegular
	}
	for name, want := range cases {
		path := p.resolve(name).WithConsent()
		if f, err := p.root.Open(path); code(err) != want {
			t.Errorf("read %s: code %q (%v), want %q", name, code(err), err, want)
			f.Close()
		}
		if want == workspace.NotFound || path.Outside() {
			continue
		}
		if _, err := p.root.Update(context.Background(), path, whole("new")); code(err) != want {
			t.Errorf("write %s: code %q (%v), want %q", name, code(err), err, want)
		}
	}
}

func TestOutsideNeedsConsent(t *testing.T) {
	p := open(t)
	p.put(p.out+"/o.txt", "old")
	path := p.resolve("../out/o.txt")
	if _, err := p.root.Open(path); code(err) != workspace.Outside {
		t.Errorf("read: %v", err)
	}
	if _, err := p.root.Update(context.Background(), path, whole("new")); code(err) != workspace.Outside {
		t.Errorf("write: %v", err)
	}
	f, err := p.root.Open(path.WithConsent())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if b, err := f.Bytes(context.Background(), 10); err != nil || string(b) != "old" {
		t.Errorf("got %q, %v", b, err)
	}
	if _, err := p.root.Update(context.Background(), p.resolve("../out/deep/new.txt").WithConsent(), whole("made")); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(p.out + "/deep/new.txt"); string(b) != "made" {
		t.Errorf("got %q", b)
	}
}

// A link that appears after Resolve must not be followed, neither as the last part nor in the
// middle.
func TestLinksMadeAfterResolveAreNotFollowed(t *testing.T) {
	p := open(t)
	p.put("dir/file", "inside")
	p.put(p.out+"/file", "secret")
	path := p.resolve("dir/file")
	os.Rename(p.dir+"/dir", p.dir+"/was")
	p.link(p.out, "dir")
	if _, err := p.root.Open(path); err == nil {
		t.Error("a link in the middle was followed for reading")
	}
	if _, err := p.root.Update(context.Background(), path, whole("x")); err == nil {
		t.Error("a link in the middle was followed for writing")
	}
	os.Remove(p.dir + "/dir")
	os.Rename(p.dir+"/was", p.dir+"/dir")
	os.Remove(p.dir + "/dir/file")
	p.link(p.out+"/file", "dir/file")
	if _, err := p.root.Open(path); code(err) != workspace.Stale {
		t.Errorf("last part: %v", err)
	}
	if b, _ := os.ReadFile(p.out + "/file"); string(b) != "secret" {
		t.Errorf("the outside file was changed to %q", b)
	}
}

func TestBytesIsBoundedAndAborts(t *testing.T) {
	p := open(t)
	p.put("f", "12345")
	f, err := p.root.Open(p.resolve("f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Bytes(context.Background(), 4); code(err) != workspace.TooLarge {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := f.Bytes(ctx, 10); code(err) != workspace.Aborted {
		t.Errorf("got %v", err)
	}
	if head, err := f.Head(3); err != nil || string(head) != "123" {
		t.Errorf("got %q %v", head, err)
	}
}

func TestNamesMarksFolders(t *testing.T) {
	p := open(t)
	p.put("d/sub/x", "")
	p.put("d/f", "")
	names, err := p.root.Names(p.resolve("d"), 10)
	if err != nil || len(names) != 2 {
		t.Fatalf("got %q %v", names, err)
	}
	for _, n := range names {
		if n != "sub/" && n != "f" {
			t.Errorf("got %q", n)
		}
	}
}
