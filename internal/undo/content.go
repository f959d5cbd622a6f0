package undo

import (
	"errors"

	"adze/internal/undo/pack"
)

// errUnstable means that a file changed each time it was read.
var errUnstable = errors.New("the file changes while it is read")

// tries is how often a file that changes while it is read is read.
const tries = 3

// file fills in a regular file.
func (k *walker) file(at folder, s scope, n *node, was *node) error {
	path := s.path + n.name
	if reason := k.beyond(s, n); reason != "" {
		k.leave(n, path, reason)
		k.changed = k.changed || was == nil || was.Entry != n.Entry
		return nil
	}
	if was != nil && was.Kind == File && was.stat.unchanged(n.stat) && k.known(was.Hash) && !k.again(was) {
		n.Entry, n.lately = was.Entry, was.lately
		n.Same = ""
	} else {
		if err := k.content(at, n, path); err != nil {
			return err
		}
		k.changed = k.changed || was == nil || was.Entry != n.Entry || !was.stat.unchanged(n.stat) || was.lately != n.lately
	}
	if n.Kind == File && n.stat.links > 1 {
		k.linked[n.stat.inode] = append(k.linked[n.stat.inode], n)
		k.paths[n] = path
	}
	return nil
}

// again reports whether a file that looks unchanged is read all the same.
func (k *walker) again(was *node) bool {
	if !was.lately || k.settle < was.Size {
		return false
	}
	k.settle -= was.Size
	return true
}

// beyond charges a file to the limits and says which it breaks; empty when none.
func (k *walker) beyond(s scope, n *node) string {
	l, size := k.opts.Limits, n.stat.size
	one, all, used, reason := l.File, l.Total, &k.total, leftLarge
	switch {
	case s.git:
		one, all, used = l.GitTotal, l.GitTotal, &k.gitTotal
	case n.ignored:
		one, all, used, reason = l.IgnoredFile, l.IgnoredTotal, &k.ignoredTotal, leftIgnored
	}
	if size > one {
		return reason
	}
	if *used+size > all {
		return leftTotal
	}
	*used += size
	return ""
}

// content reads a file and stores it.
func (k *walker) content(at folder, n *node, path string) error {
	if n.stat.size > k.space {
		k.leave(n, path, leftSpace)
		return nil
	}
	content, st, err := at.readFile(n.name, max(k.opts.Limits.File, k.opts.Limits.GitTotal), k.buf)
	if err != nil {
		reason := leftUnreadable
		if errors.Is(err, errUnstable) {
			reason = leftUnstable
		}
		k.leave(n, path, reason)
		return nil
	}
	k.buf = content[:0]
	h := pack.Sum(content)
	if !k.store.Has(h) {
		k.moment()
		if _, err := k.store.Put(content); err != nil {
			return err
		}
		k.space -= int64(len(content))
	}
	n.stat = st
	n.Entry = Entry{Kind: File, Mode: st.mode & 0o7777, Size: int64(len(content)), Hash: h}
	n.lately = max(st.mtime, st.ctime) > k.now.UnixNano()-settled
	return nil
}
