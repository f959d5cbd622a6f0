package overlay

import (
	"errors"
	"os"
	"slices"
	"strings"

	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/overlay/entry"

	"golang.org/x/sys/unix"
)

// mostLeases bounds the files that are kept open between the decision and the writing.
const mostLeases = 256

// hold takes a write lease on a file: the kernel gives one only while nobody else has the file open
// or mapped. It stays until freeLeases. Where another program has the file, it says which.
func (v *View) hold(c *Change, st entry.Stat) (who string, held bool) {
	if v.Leases[st.ID()] != nil {
		return "", false
	}
	path := c.Path
	if c.From != nil {
		path = c.From.Path
	}
	f, err := v.Lease(c.Root, path)
	switch {
	case err == nil && len(v.Leases) < mostLeases:
		if v.Leases == nil {
			v.Leases = map[entry.ID]*os.File{}
		}
		v.Leases[st.ID()] = f
		return "", false
	case err == nil:
		_ = f.Close()
		return "", false
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ETXTBSY):
		return entry.Holder(st.ID()), true
	}
	who = entry.Holder(st.ID()) // this file system, or its owner, has no leases
	return who, who != ""
}

// Watch notes how long the files in the roots are that other programs have open for writing, so
// that what these append while the command runs is told from what the command does. It ends with
// stop.
func (v *View) Watch(stop <-chan struct{}) {
	sizes := map[entry.ID]int64{}
	entry.OpenFiles(func(pid, fd int, path string) bool {
		select {
		case <-stop:
			return false
		default:
		}
		target, err := os.Readlink(path)
		if err != nil || !slices.ContainsFunc(v.Roots, func(r apply.Root) bool { return strings.HasPrefix(target, r.Path+"/") }) {
			return true
		}
		if st, ok := entry.Writing(pid, fd, path); ok {
			sizes[st.ID()] = st.Size
		}
		return true
	})
	v.sizes.Store(&sizes)
}

// sizeAtStart is how long a file was when the command began, where another program had it open for
// writing.
func (v *View) sizeAtStart(st entry.Stat) (int64, bool) {
	sizes := v.sizes.Load()
	if sizes == nil {
		return 0, false
	}
	size, ok := (*sizes)[st.ID()]
	return size, ok
}
