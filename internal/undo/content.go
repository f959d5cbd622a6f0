package undo

import (
	"errors"

	"adze/internal/undo/pack"
)

// errUnstable means a file changed during every attempt to read it.
var errUnstable = errors.New("the file changes while it is read")

const tries = 3

func (k *hand) file(at folder, s scope, n *node, was *node) error {
	reason, err := k.beyond(s, n)
	switch {
	case err != nil:
		return err
	case reason != "":
		leave(n, reason)
	case was != nil && was.Kind == File && was.stat.unchanged(n.stat) && k.known(was.Entry) && !k.again(was):
		n.Entry, n.recentlyChanged = was.Entry, was.recentlyChanged
	default:
		err = k.content(at, n)
	}
	if err != nil {
		return err
	}
	k.compare(n, was)
	return nil
}

// again reports whether to reread a file that looks unchanged but may have been written, and
// charges it to settle.
func (k *walker) again(was *node) bool {
	cost := was.rereading()
	return was.recentlyChanged && k.settle.Load() >= cost && k.settle.Add(-cost) >= 0
}

// beyond charges a file to the limits and returns the reason if it exceeds one.
func (k *walker) beyond(s scope, n *node) (reason string, err error) {
	l, size := k.opts.Limits, n.stat.size
	one := [limitCount]int64{l.File, l.GitTotal, l.IgnoredFile}
	all := [limitCount]int64{l.Total, l.GitTotal, l.IgnoredTotal}
	i := of(s.git, n.ignored)
	switch {
	case size > one[i] && i == ofIgnored:
		return leftIgnored, nil
	case size > one[i]:
		return leftLarge, nil
	case k.charged[i].Add(size) <= all[i]:
		return "", nil
	case k.some || !k.ordered:
		return "", errAgain
	}
	k.charged[i].Add(-size)
	return leftTotal, nil
}

func (k *hand) content(at folder, n *node) error {
	c, err := at.readFile(n.name, max(k.opts.Limits.File, k.opts.Limits.GitTotal), k.buf)
	if err != nil {
		reason := leftUnreadable
		if errors.Is(err, errUnstable) {
			reason = leftUnstable
		}
		leave(n, reason)
		return nil
	}
	content, st := c.bytes, c.stat
	k.buf = content[:0]
	h := pack.Sum(content)
	if !k.store.Has(h) {
		k.moment()
		if k.space.Add(-int64(len(content))) < 0 {
			leave(n, leftSpace)
			return nil
		}
		if err := k.store.PutSum(h, content); full(err) {
			k.space.Store(0)
			leave(n, leftSpace)
			return nil
		} else if err != nil {
			return err
		}
	}
	n.stat = st
	n.Entry = Entry{Kind: File, Mode: st.mode & 0o7777, Size: int64(len(content)), Hash: h, Attrs: c.attrs}
	n.recentlyChanged = max(st.mtime, st.ctime) > k.now.UnixNano()-settled
	return nil
}
