package undo

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// mostAttrs bounds what is kept of the attributes of one entry, in bytes.
const mostAttrs = 64 << 10

// keptAttr reports whether an extended attribute is kept: what a person sets, and access lists. What a system
// gives by itself (security.selinux) or only root may set is not.
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

// attrsOf reads the attributes of an open file or folder as one text: names and values, each with its length. A
// file system that has none says so cheaply.
func attrsOf(fd int) string {
	var b []byte
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
	want := map[string]string{}
	r := reader{b: []byte(attrs)}
	for len(r.b) > 0 && !r.bad {
		name := r.text()
		want[name] = r.text()
	}
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
