package namespace

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

// HoldWord is the hidden first argument that makes this binary hold views: see Hold.
const HoldWord = "__hold-views"

// HoldFD is the descriptor of a holder's socket.
const HoldFD = 3

// HeldFolder is a host folder for which a holder makes a view.
type HeldFolder struct {
	Path     string // on the host, absolute and free of links
	Upper    string // with "upper" and "work", as for Mount
	Dev, Ino uint64 // expected identity
}

// HoldArgs returns a holder's arguments after HoldWord.
func HoldArgs(ids IDs, views []HeldFolder) (args []string) {
	args = []string{strconv.FormatBool(ids.Set), strconv.Itoa(ids.UID), strconv.Itoa(ids.GID)}
	for _, h := range views {
		args = append(args, h.Path, h.Upper, number(h.Dev), number(h.Ino))
	}
	return args
}

// Hold runs a process that holds views for longer than one command. It reports whether the
// arguments asked for it.
//
// The process runs in its own namespaces. It waits for a byte, mounts an overlay on each folder and
// responds with a line, which is empty on success. Then it responds to each byte, a view's number,
// with the descriptor of a detached copy of its mount: adze uses it for file access, and a
// command's shim attaches it. All copies are the same file system, so changes are visible in all at
// once. The process ends when the other end of the socket is closed.
func Hold(args []string) (exit int, ours bool) {
	if len(args) < 2 || args[1] != HoldWord {
		return 0, false
	}
	syscall.CloseOnExec(HoldFD)
	var one [1]byte
	if n, err := fdRead(HoldFD, one[:]); err != nil || n != 1 {
		os.Stderr.WriteString("adze: " + HoldWord + ": error: this argument is for adze itself\n")
		return 2, true
	}
	trees, err := holdAll(args[2:])
	answer := ""
	if err != nil {
		answer = err.Error()
	}
	if syscall.Sendmsg(HoldFD, []byte(answer+"\n"), nil, nil, 0) != nil || err != nil {
		return 1, true
	}
	for {
		n, err := fdRead(HoldFD, one[:])
		if err != nil || n == 0 {
			return 0, true
		}
		if int(one[0]) >= len(trees) {
			return 2, true
		}
		fd, err := cloneTree(trees[one[0]])
		if err != nil {
			_ = syscall.Sendmsg(HoldFD, []byte(err.Error()+"\n"), nil, nil, 0)
			continue
		}
		err = syscall.Sendmsg(HoldFD, []byte("\n"), syscall.UnixRights(fd), nil, 0)
		_ = syscall.Close(fd)
		if err != nil {
			return 1, true
		}
	}
}

func fdRead(fd int, p []byte) (int, error) {
	for {
		n, err := syscall.Read(fd, p)
		if err != syscall.EINTR {
			return n, err
		}
	}
}

// holdAll mounts each view on its folder.
func holdAll(args []string) (trees []int, err error) {
	const first, each = 3, 4
	if len(args) < first || (len(args)-first)%each != 0 {
		return nil, syscall.EINVAL
	}
	if args[0] == "true" {
		uid, err := strconv.Atoi(args[1])
		gid, err2 := strconv.Atoi(args[2])
		if err := errors.Join(err, err2); err != nil {
			return nil, err
		}
		if err := (IDs{Set: true, UID: uid, GID: gid}).apply(); err != nil {
			return nil, err
		}
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return nil, &Fault{"make mounts private", err}
	}
	root, err := syscall.Open("/", oPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &Fault{"open the root folder", err}
	}
	defer syscall.Close(root)
	for at := args[first:]; len(at) > 0; at = at[each:] {
		m := Mount{Kind: View, Path: at[0], Source: at[0], Upper: at[1]}
		dev, err := strconv.ParseUint(at[2], 10, 64)
		ino, err2 := strconv.ParseUint(at[3], 10, 64)
		if err := errors.Join(err, err2); err != nil {
			return nil, err
		}
		m.Dev, m.Ino = dev, ino
		fs, err := mountView(root, root, m)
		if err != nil {
			return nil, err
		}
		trees = append(trees, fs)
	}
	// This keeps commands from reading this process (prctl(2)).
	if _, err := call(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0); err != nil {
		return nil, &Fault{"conceal the holder of views", err}
	}
	return trees, nil
}

// mountView mounts a view below top and returns its descriptor.
func mountView(old, top int, m Mount) (int, error) {
	t := tree{old: old, top: top}
	fs, err := t.overlay(m)
	if err != nil {
		return -1, err
	}
	to, err := openNoLinks(top, m.Path, oPath|syscall.O_DIRECTORY)
	if err != nil {
		return -1, err
	}
	defer syscall.Close(to)
	return fs, attach(fs, to)
}

// ofHolder attaches a copy of a holder's view.
func (t *tree) ofHolder(m Mount) error {
	fd, err := strconv.Atoi(m.Source)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	to, err := t.point(m.Path, true)
	if err != nil {
		return err
	}
	defer syscall.Close(to)
	return attach(fd, to)
}
