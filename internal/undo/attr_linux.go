package undo

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// mostAttrs bounds what is kept of the attributes of one entry, in bytes.
const mostAttrs = 64 << 10

// keptAttr reports whether an extended attribute is kept: what a user sets, and access lists. What
// a system gives by itself (security.selinux) or only root may set is not.
func keptAttr(name string) bool {
	return strings.HasPrefix(name, "user.") || name == "system.posix_acl_access" || name == "system.posix_acl_default"
}

// attrNames lists the attributes of an open file or folder that are kept, in their order.
func attrNames(fd int) []string {
	n, err := unix.Flistxattr(fd, nil)
	if err != nil || n <= 0 {
		return nil // the file system has none
	}
	buf := make([]byte, n+256) // one may have come since
	if n, err = unix.Flistxattr(fd, buf); err != nil || n <= 0 {
		return nil
	}
	all := slices.DeleteFunc(strings.Split(string(buf[:n]), "\x00"), func(s string) bool { return !keptAttr(s) })
	slices.Sort(all)
	return all
}

// ownerAttr stands for the owner among the attributes, where that is another than who runs: no
// attribute has such a name.
const ownerAttr = "owner"

// ownerOf is user and group of an open file or folder; if empty, those who run.
func ownerOf(fd int) string {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || int(st.Uid) == os.Geteuid() && int(st.Gid) == os.Getegid() {
		return ""
	}
	return fmt.Sprintf("%d:%d", st.Uid, st.Gid)
}

// setOwner gives an open file or folder the owner that stands in its attributes. It comes before
// the mode, of which a change of the owner clears bits.
func setOwner(fd int, attrs string) error {
	uid, gid := os.Geteuid(), os.Getegid()
	want := attrMap(attrs)[ownerAttr]
	if want == ownerOf(fd) {
		return nil
	}
	if want != "" {
		if _, err := fmt.Sscanf(want, "%d:%d", &uid, &gid); err != nil {
			return fmt.Errorf("%w: %w", errOwner, err)
		}
	}
	if err := unix.Fchown(fd, uid, gid); err != nil {
		_ = unix.Fchown(fd, -1, gid) // the group may be one of the user's
		return fmt.Errorf("%w (%d:%d): %w", errOwner, uid, gid, err)
	}
	return nil
}

// attrMap takes the text of attributes apart.
func attrMap(attrs string) map[string]string {
	all := map[string]string{}
	r := reader{b: []byte(attrs)}
	for len(r.b) > 0 && !r.bad {
		name := r.text()
		all[name] = r.text()
	}
	return all
}

// attrsOf reads the attributes of an open file or folder as one text: names and values, each with
// its length, and its owner. A file system that has none says so cheaply.
func attrsOf(fd int) string {
	var b []byte
	if owner := ownerOf(fd); owner != "" {
		b = appendText(appendText(b, ownerAttr), owner)
	}
	for _, name := range attrNames(fd) {
		size, err := unix.Fgetxattr(fd, name, nil)
		if err != nil || len(b)+size > mostAttrs {
			continue
		}
		value := make([]byte, size)
		if n, err := unix.Fgetxattr(fd, name, value); err == nil && n == size {
			b = appendText(appendText(b, name), string(value))
		}
	}
	return string(b)
}

// setAttrs gives an open file or folder these attributes and no others of those that are kept.
func setAttrs(fd int, attrs string) error {
	if attrsOf(fd) == attrs {
		return nil
	}
	want := attrMap(attrs)
	delete(want, ownerAttr)
	var errs []error
	for _, name := range attrNames(fd) {
		if _, ok := want[name]; !ok {
			errs = append(errs, attrError(name, unix.Fremovexattr(fd, name)))
		}
	}
	for name, value := range want {
		errs = append(errs, attrError(name, unix.Fsetxattr(fd, name, []byte(value), 0)))
	}
	return errors.Join(errs...)
}

func attrError(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("its attribute %s cannot be put back: %w", name, err)
}
