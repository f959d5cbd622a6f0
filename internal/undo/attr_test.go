//go:build linux

package undo

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// acl is an access list as the system has it: the owner, one more person, the group, the mask and
// the others.
func acl(person uint32, theirs uint16) string {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range []struct {
		tag, perm uint16
		id        uint32
	}{{1, 6, 1<<32 - 1}, {2, theirs, person}, {4, 4, 1<<32 - 1}, {16, 6, 1<<32 - 1}, {32, 0, 1<<32 - 1}} {
		b = binary.LittleEndian.AppendUint16(b, e.tag)
		b = binary.LittleEndian.AppendUint16(b, e.perm)
		b = binary.LittleEndian.AppendUint32(b, e.id)
	}
	return string(b)
}

func (p *site) setAttr(name, attr, value string) {
	p.t.Helper()
	if err := unix.Setxattr(filepath.Join(p.root, name), attr, []byte(value), 0); err != nil {
		p.t.Skipf("%s cannot be set here: %v", attr, err)
	}
}

// attrs tells of each path what attributes it has, without help of the package.
func (p *site) attrs() map[string]string {
	p.t.Helper()
	all := p.shape(false)
	for rel := range all {
		path := filepath.Join(p.root, rel)
		list := make([]byte, 4096)
		n, err := unix.Llistxattr(path, list)
		if err != nil {
			p.t.Fatal(err)
		}
		names := strings.Split(strings.TrimRight(string(list[:n]), "\x00"), "\x00")
		slices.Sort(names)
		for _, name := range names {
			if !strings.HasPrefix(name, "user.") && !strings.HasPrefix(name, "system.posix_acl") {
				continue
			}
			value := make([]byte, 4096)
			n, err := unix.Lgetxattr(path, name, value)
			if err != nil {
				p.t.Fatal(err)
			}
			all[rel] += fmt.Sprintf(" %s=%x", name, value[:n])
		}
	}
	return all
}

func TestAttributesAndAccessListsComeBack(t *testing.T) {
	for _, script := range []string{"rm -rf src run.sh bin", "printf other > src/a.go; cp run.sh r; mv r run.sh", "chmod 777 run.sh src", "mv src elsewhere", "mkdir src/n; cp -r src/deep src/n/"} {
		p := newSite(t)
		p.fill()
		p.setAttr("src/a.go", "user.origin", "a\x00b")
		p.setAttr("src/a.go", "user.empty", "")
		p.setAttr("run.sh", "user.tag", "one")
		p.setAttr("src", "user.folder", "yes")
		p.setAttr("bin", "system.posix_acl_default", acl(12345, 7))
		p.setAttr("run.sh", "system.posix_acl_access", acl(12345, 2))
		before, was := p.mark(), p.attrs()
		p.sh(script)
		if _, err := os.Stat(filepath.Join(p.root, "run.sh")); err == nil {
			p.setAttr("run.sh", "user.tag", "two")
			p.setAttr("run.sh", "user.more", "three")
		}
		after, is := p.mark(), p.attrs()
		undone := p.undo(false, Window{before, after})
		p.clean(undone)
		p.same(script+": undo", p.attrs(), was)
		p.reopen()
		p.clean(p.undo(false, undone.Window))
		p.same(script+": redo", p.attrs(), is)
	}
}

func TestAnAttributeAloneIsAChange(t *testing.T) {
	p := newSite(t)
	p.fill()
	before := p.mark()
	p.setAttr("src/a.go", "user.tag", "mine")
	p.setAttr(".", "user.tag", "root")
	p.sh("chmod 711 .")
	after := p.mark()
	changes, err := p.Diff(context.Background(), before, after)
	if err != nil || len(changes) != 2 || changes[0].Path != "." || changes[1].Path != "src/a.go" {
		t.Fatalf("%v, %v", changes, err)
	}
	p.setAttr("src/a.go", "user.tag", "the person's")
	r := p.undo(false, Window{before, after})
	if len(r.Refused) != 1 || r.Refused[0].Path != "src/a.go" {
		t.Errorf("refused %v", r.Refused)
	}
	if got := p.attrs()["."]; got != "folder drwxr-xr-x" {
		t.Errorf("the folder itself is %s", got)
	}
	p.clean(p.undo(false, r.Window))
	if got := p.attrs()["."]; got != "folder drwx--x--x user.tag=726f6f74" {
		t.Errorf("the folder itself is %s after the redo", got)
	}
}
