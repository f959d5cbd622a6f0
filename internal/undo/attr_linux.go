package undo

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// mostAttrs limits the stored attributes of one entry, in bytes.
const mostAttrs = 64 << 10

// keptAttr reports whether an extended attribute is stored: user attributes and access lists.
// Attributes set by the system (security.selinux) or by root alone are not.
func keptAttr(name string) bool {
	return strings.HasPrefix(name, "user.") || name == "system.posix_acl_access" || name == "system.posix_acl_default"
}

// attrNames returns the sorted names of an open file's or folder's stored attributes.
func attrNames(fd int) []string {
	n, err := unix.Flistxattr(fd, nil)
	if err != nil || n <= 0 {
		return nil // unsupported by the file system
	}
	buf := make([]byte, n+256) // one may have been added since
	if n, err = unix.Flistxattr(fd, buf); err != nil || n <= 0 {
		return nil
	}
	all := slices.DeleteFunc(strings.Split(string(buf[:n]), "\x00"), func(s string) bool { return !keptAttr(s) })
	slices.Sort(all)
	return all
}

// ownerAttr is the pseudo attribute for an owner other than the process's user. No real attribute
// has this name.
const ownerAttr = "owner"

// ownerOf returns the user and group of an open file or folder, or "" if they are the process's
// own.
func ownerOf(fd int) string {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || int(st.Uid) == os.Geteuid() && int(st.Gid) == os.Getegid() {
		return ""
	}
	return fmt.Sprintf("%d:%d", st.Uid, st.Gid)
}

// setOwner sets the owner stored in the attributes. It must run before the mode is set: chown
// clears mode bits.
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

func attrMap(attrs string) map[string]string {
	all := map[string]string{}
	r := reader{b: []byte(attrs)}
	for len(r.b) > 0 && !r.bad {
		name := r.text()
		all[name] = r.text()
	}
	return all
}

// attrsOf encodes an open file's or folder's owner and attributes as one string of length-prefixed
// names and values.
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

// setAttrs sets these attributes and removes the other stored ones.
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
