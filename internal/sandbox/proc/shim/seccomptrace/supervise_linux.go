//go:build amd64 || arm64

package seccomptrace

import (
	"encoding/binary"
	"path"
	"runtime"
	"strings"
	"syscall"
	"unsafe"
)

// Where a FilePolicy holds, the command may write nothing in the workspace (Landlock has no
// read-only place in a writable folder). Each call that changes something there is made by this
// process instead, on what it has opened itself, if the policy lets it. It makes one after the
// other, so that nothing the command does comes between a look and what is done after it. A call
// that it does not make goes on, and the kernel refuses it in the workspace, however its arguments
// change meanwhile.
//
// Landlock has no rules for modes, owners, times and attributes of files. Calls that set these go
// on nowhere.

const (
	addAndReply  = 1 << 1   // SECCOMP_ADDFD_FLAG_SEND, since Linux 5.14
	unshareFS    = 0x200    // CLONE_FS
	symlinkFlag  = 0x400    // AT_SYMLINK_FOLLOW
	unnamedFile  = 0x400000 // O_TMPFILE without O_DIRECTORY
	exchange     = 2        // RENAME_EXCHANGE
	sysFchmodat2 = 452
	mostValue    = 64 << 10 // of an attribute
)

// modern is the call in the form that all architectures have.
func (n *notice) modern() notice {
	m := *n
	here := uint64(1<<32 - 100) // AT_FDCWD
	switch n.nr {
	case syscall.SYS_RENAMEAT:
		m.nr, m.args[4] = sysRenameat2, 0
	case syscall.SYS_UTIMENSAT:
		m.args[4] = uint64(timespecs)
	default:
		m.ofOldTimes(here)
	}
	return m
}

// prepare makes the calling thread one that changes files as the command would: with its rights,
// and a umask of its own.
func (w *Witness) prepare(confine func() error) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	_, _, errno := syscall.Syscall(syscall.SYS_UNSHARE, unshareFS, 0, 0)
	w.ready = errno == 0 && confine() == nil
}

// supervise makes a call in the place of the command; if false, the call goes on.
func (w *Witness) supervise(n *notice) (reply, bool) {
	if !w.ready {
		return n.fails(syscall.EPERM), true
	}
	call := n.modern()
	n = &call
	switch n.nr {
	case syscall.SYS_OPENAT:
		return w.open(n)
	case syscall.SYS_MKDIRAT, syscall.SYS_MKNODAT:
		return w.make(n, 0, 1)
	case syscall.SYS_SYMLINKAT:
		return w.make(n, 1, 2)
	case syscall.SYS_UNLINKAT:
		return w.remove(n)
	case syscall.SYS_LINKAT:
		return w.link(n)
	case sysRenameat2:
		return w.rename(n)
	case syscall.SYS_TRUNCATE:
		return w.truncate(n)
	case syscall.SYS_BIND:
		return w.bind(n)
	}
	return w.attribute(n), true
}

func (n *notice) fails(errno syscall.Errno) reply { return reply{id: n.id, errno: -int32(errno)} }

// result is the answer for what a call of this process returned.
func (n *notice) result(err error) reply {
	if err == nil {
		return reply{id: n.id}
	}
	return n.fails(errnoOf(err))
}

// refuse answers a call that the policy does not let.
func (w *Witness) refuse(n *notice, at string) reply {
	w.note(n, Fact{Fixed, at})
	return n.fails(syscall.EACCES)
}

// act tells of a change and reports whether the one that asked still waits: otherwise its id may be
// another's.
func (w *Witness) act(n *notice, at string, below bool) bool {
	id := n.id
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(w.fd), ioctlStillThere, uintptr(unsafe.Pointer(&id))); errno != 0 {
		return false
	}
	if w.tell.to != nil && len(w.tell.told) < mostTold {
		w.tell.one(at, below)
	}
	return true
}

// refusesNew reports that no entry may be made at a path.
func (w *Witness) refusesNew(at string) bool { return w.files.keeps(at, false) || completes(at) }

// open opens a file for writing and hands it over.
func (w *Witness) open(n *notice) (reply, bool) {
	flags, mode := int(uint32(n.args[2])), uint32(n.args[3])&0o7777
	if flags&oPath != 0 || flags&writing == 0 && flags&unnamedFile == 0 {
		return reply{}, false
	}
	e, errno := n.find(0, 1, flags&syscall.O_NOFOLLOW == 0 && flags&(syscall.O_CREAT|syscall.O_EXCL) != syscall.O_CREAT|syscall.O_EXCL)
	if errno != 0 {
		return reply{}, false
	}
	defer e.close()
	if w.files.root(e.path) == "" {
		return reply{}, false
	}
	unnamed := flags&unnamedFile == unnamedFile
	switch {
	case unnamed && (!e.is(syscall.S_IFDIR) || w.files.keeps(path.Join(e.path, "file"), false)),
		!unnamed && e.there() && e.st.Nlink > 0 && flags&syscall.O_EXCL == 0 && !e.is(syscall.S_IFDIR) && flags&(syscall.O_WRONLY|syscall.O_RDWR|syscall.O_TRUNC) != 0 && w.files.keeps(e.path, false):
		return w.refuse(n, e.path), true
	case unnamed:
		return w.create(n, e, e.fd, ".", flags, mode), true
	case !e.there() && flags&syscall.O_CREAT == 0:
		return n.fails(syscall.ENOENT), true
	case !e.there() && e.slash:
		return n.fails(syscall.EISDIR), true
	case !e.there() && w.refusesNew(e.path):
		return w.refuse(n, e.path), true
	case !e.there():
		return w.create(n, e, e.dir, e.name, flags|syscall.O_EXCL|syscall.O_NOFOLLOW, mode), true
	case e.is(syscall.S_IFIFO) && flags&syscall.O_NONBLOCK == 0 && flags&syscall.O_EXCL == 0:
		w.openLater(n, e, flags)
		return reply{}, true
	case !e.is(syscall.S_IFREG) && !e.is(syscall.S_IFIFO), flags&(syscall.O_CREAT|syscall.O_EXCL) == syscall.O_CREAT|syscall.O_EXCL,
		flags&(syscall.O_WRONLY|syscall.O_RDWR|syscall.O_TRUNC) == 0, flags&syscall.O_DIRECTORY != 0:
		return reply{}, false // an error of its own, or only read
	case !w.act(n, e.path, false):
		return reply{}, true
	}
	fd, err := syscall.Open(e.self(), flags&^(syscall.O_CREAT|syscall.O_EXCL|syscall.O_NOFOLLOW)|syscall.O_CLOEXEC, 0)
	return w.hand(n, fd, err, flags), true
}

// create makes a file with the umask of the one that asked.
func (w *Witness) create(n *notice, e *entry, dir int, name string, flags int, mode uint32) reply {
	mask, ok := n.umask()
	if !ok || !w.act(n, e.path, false) {
		return n.fails(syscall.EINTR)
	}
	syscall.Umask(mask)
	fd, err := syscall.Openat(dir, name, flags|syscall.O_CLOEXEC, mode)
	return w.hand(n, fd, err, flags)
}

// openLater opens a FIFO, which waits for the other end.
func (w *Witness) openLater(n *notice, e *entry, flags int) {
	own, later := *e, *n
	e.fd, e.dir = -1, -1
	go func() {
		defer own.close()
		fd, err := syscall.Open(own.self(), flags&^(syscall.O_CREAT|syscall.O_NOFOLLOW)|syscall.O_CLOEXEC, 0)
		if r := w.hand(&later, fd, err, flags); r.id != 0 {
			w.send(&r)
		}
	}()
}

// hand gives an open file to the one that asked, which is the answer; the zero reply is one that
// has been given.
func (w *Witness) hand(n *notice, fd int, err error, flags int) reply {
	if err != nil {
		return n.fails(errnoOf(err))
	}
	defer syscall.Close(fd)
	add := struct {
		id                        uint64
		flags, fd, as, descriptor uint32
	}{id: n.id, flags: addAndReply, fd: uint32(fd), descriptor: uint32(flags & syscall.O_CLOEXEC)}
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(w.fd), ioctlAddFD, uintptr(unsafe.Pointer(&add))); errno != 0 {
		return n.fails(errno)
	}
	return reply{}
}

// make makes a folder, a file, a FIFO or a link.
func (w *Witness) make(n *notice, at, argument int) (reply, bool) {
	e, errno := n.find(at, argument, false)
	if errno != 0 {
		return reply{}, false
	}
	defer e.close()
	target, mask, ok := "", 0, true
	if n.nr == syscall.SYS_SYMLINKAT {
		target, ok = n.text(n.args[0])
	} else {
		mask, ok = n.umask()
	}
	kind := uint32(n.args[2]) & syscall.S_IFMT
	switch {
	case w.files.root(e.path) == "":
		return reply{}, false
	case e.there():
		return n.fails(syscall.EEXIST), true
	case w.refusesNew(e.path), n.nr == syscall.SYS_SYMLINKAT && (w.files.leaves(e.path, target) || w.files.leads(e.path)),
		n.nr == syscall.SYS_MKNODAT && kind != 0 && kind != syscall.S_IFREG && kind != syscall.S_IFIFO:
		return w.refuse(n, e.path), true
	case !ok:
		return n.fails(syscall.EFAULT), true
	case !w.act(n, e.path, false):
		return reply{}, true
	}
	syscall.Umask(mask)
	switch n.nr {
	case syscall.SYS_MKDIRAT:
		return n.result(syscall.Mkdirat(e.dir, e.name, uint32(n.args[2])&0o7777)), true
	case syscall.SYS_MKNODAT:
		return n.result(syscall.Mknodat(e.dir, e.name, uint32(n.args[2]), 0)), true
	}
	return n.result(at2(syscall.SYS_SYMLINKAT, target, -1, e.dir, e.name)), true
}

// bind gives a socket its name. The command may connect to it from then on, whatever other names it
// gets. The name that getsockname(2) returns is the last part of the path.
func (w *Witness) bind(n *notice) (reply, bool) {
	size := int32(n.args[2])
	if size <= pathOffset || size > mostUnix {
		return reply{}, false
	}
	address := n.read(n.args[1], int(size))
	if len(address) < int(size) || binary.NativeEndian.Uint16(address) != syscall.AF_UNIX || address[pathOffset] == 0 {
		return reply{}, false
	}
	name, _, _ := strings.Cut(string(address[pathOffset:]), "\x00")
	e, errno := n.lookUp(-1, name, false)
	if errno != 0 {
		return reply{}, false
	}
	defer e.close()
	mask, ok := n.umask()
	switch {
	case w.files.root(e.path) == "":
		return reply{}, false
	case e.there():
		return n.fails(syscall.EADDRINUSE), true
	case w.refusesNew(e.path):
		return w.refuse(n, e.path), true
	}
	fd, errno := w.copied(n, n.args[0])
	if errno != 0 {
		return n.fails(errno), true
	}
	defer syscall.Close(fd)
	if !ok || !w.act(n, e.path, false) {
		return n.fails(syscall.EINTR), true
	}
	syscall.Umask(mask)
	// The thread has a working folder of its own (CLONE_FS).
	err := syscall.Fchdir(e.dir)
	if err == nil {
		err = syscall.Bind(fd, &syscall.SockaddrUnix{Name: e.name})
	}
	_ = syscall.Chdir("/")
	if at, openErr := syscall.Openat(e.dir, e.name, oPath|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0); err == nil && openErr == nil {
		w.remember(at)
	}
	return n.result(err), true
}

// at2 is symlinkat(2), or with a descriptor linkat(2), which follows the link of a descriptor to
// what it is of.
func at2(nr uintptr, from string, fromDir, toDir int, to string) error {
	a, err := syscall.BytePtrFromString(from)
	b, err2 := syscall.BytePtrFromString(to)
	if err != nil || err2 != nil {
		return syscall.EINVAL
	}
	var errno syscall.Errno
	switch {
	case nr == syscall.SYS_SYMLINKAT:
		_, _, errno = syscall.Syscall(nr, uintptr(unsafe.Pointer(a)), uintptr(toDir), uintptr(unsafe.Pointer(b)))
	case fromDir < 0:
		_, _, errno = syscall.Syscall6(nr, ^uintptr(99), uintptr(unsafe.Pointer(a)), uintptr(toDir), uintptr(unsafe.Pointer(b)), symlinkFlag, 0)
	default:
		_, _, errno = syscall.Syscall6(nr, uintptr(fromDir), uintptr(unsafe.Pointer(a)), uintptr(toDir), uintptr(unsafe.Pointer(b)), 0, 0)
	}
	if errno != 0 {
		return errno
	}
	return nil
}

// remove removes a name.
func (w *Witness) remove(n *notice) (reply, bool) {
	e, errno := n.find(0, 1, false)
	if errno != 0 {
		return reply{}, false
	}
	defer e.close()
	switch {
	case w.files.root(e.path) == "" || e.dir < 0:
		return reply{}, false
	case !e.there():
		return n.fails(syscall.ENOENT), true
	case e.slash && !e.is(syscall.S_IFDIR):
		return n.fails(syscall.ENOTDIR), true
	case w.files.keeps(e.path, true):
		return w.refuse(n, e.path), true
	case !w.act(n, e.path, false):
		return reply{}, true
	}
	name, err := syscall.BytePtrFromString(e.name)
	if err != nil {
		return n.fails(syscall.EINVAL), true
	}
	_, _, errno = syscall.Syscall(syscall.SYS_UNLINKAT, uintptr(e.dir), uintptr(unsafe.Pointer(name)), uintptr(n.args[2]))
	return n.fails(errno), true
}

// twoPaths finds the two paths of a call. Where only one of them is in a root, programs copy
// instead (EXDEV): what the command wrote elsewhere was looked at by nobody.
func (w *Witness) twoPaths(n *notice, follow bool) (from, to *entry, r reply, done bool) {
	from, errno := n.find(0, 1, follow)
	to, errno2 := n.find(2, 3, false)
	in := func(e *entry, errno syscall.Errno) bool { return errno == 0 && w.files.root(e.path) != "" }
	a, b := in(from, errno), in(to, errno2)
	unnamed := errno == 0 && from.there() && from.st.Nlink == 0
	switch {
	case !a && !b, errno == 0 && !from.there() && !unnamed, b && to.dir < 0:
		return from, to, reply{}, false
	case !b, !a && !unnamed:
		return from, to, n.fails(syscall.EXDEV), true
	}
	return from, to, reply{}, true
}

// link makes another name of a file.
func (w *Witness) link(n *notice) (reply, bool) {
	from, to, r, done := w.twoPaths(n, n.args[4]&symlinkFlag != 0)
	defer from.close()
	defer to.close()
	switch {
	case !done || r.id != 0:
		return r, done
	case to.there():
		return n.fails(syscall.EEXIST), true
	case from.st.Nlink > 0 && w.files.keeps(from.path, false):
		return w.refuse(n, from.path), true
	case w.refusesNew(to.path):
		return w.refuse(n, to.path), true
	case !w.act(n, to.path, false):
		return reply{}, true
	case from.is(syscall.S_IFLNK):
		return n.result(at2(syscall.SYS_LINKAT, from.name, from.dir, to.dir, to.name)), true
	}
	return n.result(at2(syscall.SYS_LINKAT, from.self(), -1, to.dir, to.name)), true
}

// rename moves an entry.
func (w *Witness) rename(n *notice) (reply, bool) {
	flags := uintptr(uint32(n.args[4]))
	from, to, r, done := w.twoPaths(n, false)
	defer from.close()
	defer to.close()
	swap := flags&exchange != 0
	switch {
	case !done || r.id != 0:
		return r, done
	case from.dir < 0, flags&^(noReplace|exchange) != 0:
		return n.fails(syscall.EINVAL), true
	case w.files.keeps(from.path, true):
		return w.refuse(n, from.path), true
	case w.files.keeps(to.path, swap || to.is(syscall.S_IFDIR)), completes(to.path),
		!from.is(syscall.S_IFREG) && w.files.leads(to.path):
		return w.refuse(n, to.path), true
	case (from.is(syscall.S_IFDIR) || swap) && !w.files.together(from.path, to.path):
		return n.fails(syscall.EXDEV), true
	case !w.act(n, from.path, true) || !w.act(n, to.path, true):
		return reply{}, true
	}
	return n.fails(renameAt(from.dir, from.name, to.dir, to.name, flags)), true
}

// truncate changes the size of a file.
func (w *Witness) truncate(n *notice) (reply, bool) {
	e, errno := n.find(-1, 0, true)
	if errno != 0 {
		return reply{}, false
	}
	defer e.close()
	switch {
	case w.files.root(e.path) == "" || !e.is(syscall.S_IFREG):
		return reply{}, false
	case w.files.keeps(e.path, false):
		return w.refuse(n, e.path), true
	case !w.act(n, e.path, false):
		return reply{}, true
	}
	return n.result(syscall.Truncate(e.self(), int64(n.args[1]))), true
}

// attribute sets a mode, an owner, times or an attribute.
func (w *Witness) attribute(n *notice) reply {
	e, errno := n.object()
	if errno != 0 {
		if errno == errElsewhere {
			errno = syscall.EPERM
		}
		return n.fails(errno)
	}
	defer e.close()
	switch root := w.files.root(e.path); {
	case !e.there():
		return n.fails(syscall.ENOENT)
	case e.path[0] != '/' || e.st.Nlink == 0 || e.path == root || w.files.owns(e.path): // a pipe, say
	case root == "":
		w.note(n, Fact{Written, e.path})
		return n.fails(syscall.EPERM)
	case w.files.keeps(e.path, false):
		return w.refuse(n, e.path)
	}
	if !w.act(n, e.path, false) {
		return reply{}
	}
	return n.result(n.set(e))
}

// object finds what a call is about that sets something: by a descriptor or by a path.
func (n *notice) object() (*entry, syscall.Errno) {
	const emptyPath = 0x1000
	switch n.nr {
	case syscall.SYS_FCHMOD, syscall.SYS_FCHOWN, syscall.SYS_FSETXATTR, syscall.SYS_FREMOVEXATTR:
		return n.opened(int(int32(n.args[0])))
	case syscall.SYS_SETXATTR, syscall.SYS_REMOVEXATTR:
		return n.find(-1, 0, true)
	case syscall.SYS_LSETXATTR, syscall.SYS_LREMOVEXATTR:
		return n.find(-1, 0, false)
	}
	flags := n.attributeFlags()
	if text, ok := n.text(n.args[1]); n.args[1] == 0 || !ok && flags&emptyPath != 0 && text == "" {
		if int32(n.args[0]) == atFDCWD {
			return nil, syscall.EPERM
		}
		return n.opened(int(int32(n.args[0])))
	}
	return n.find(0, 1, flags&noFollow == 0)
}

func (n *notice) attributeFlags() uint64 {
	switch n.nr {
	case sysFchmodat2, syscall.SYS_UTIMENSAT:
		return n.args[3]
	case syscall.SYS_FCHOWNAT:
		return n.args[4]
	}
	return 0
}

// set does to what it found what the call asks.
func (n *notice) set(e *entry) error {
	switch n.nr {
	case syscall.SYS_FCHMOD:
		return syscall.Chmod(e.self(), uint32(n.args[1])&0o7777)
	case syscall.SYS_FCHMODAT, sysFchmodat2:
		if e.is(syscall.S_IFLNK) {
			return syscall.EOPNOTSUPP
		}
		return syscall.Chmod(e.self(), uint32(n.args[2])&0o7777)
	case syscall.SYS_FCHOWN:
		return syscall.Chown(e.self(), int(int32(n.args[1])), int(int32(n.args[2])))
	case syscall.SYS_FCHOWNAT:
		if e.is(syscall.S_IFLNK) {
			return syscall.Fchownat(e.dir, e.name, int(int32(n.args[2])), int(int32(n.args[3])), noFollow)
		}
		return syscall.Chown(e.self(), int(int32(n.args[2])), int(int32(n.args[3])))
	case syscall.SYS_UTIMENSAT:
		return n.setTimes(e)
	}
	if e.is(syscall.S_IFLNK) {
		return syscall.EOPNOTSUPP
	}
	name, ok := n.text(n.args[1])
	if !ok {
		return syscall.EFAULT
	}
	switch n.nr {
	case syscall.SYS_SETXATTR, syscall.SYS_LSETXATTR, syscall.SYS_FSETXATTR:
		if n.args[3] > mostValue {
			return syscall.E2BIG
		}
		return syscall.Setxattr(e.self(), name, n.read(n.args[2], int(n.args[3])), int(n.args[4]))
	case syscall.SYS_REMOVEXATTR, syscall.SYS_LREMOVEXATTR, syscall.SYS_FREMOVEXATTR:
		return syscall.Removexattr(e.self(), name)
	}
	return syscall.ENOSYS
}

// timeKind is how a call tells times: as structs timespec, timeval or utimbuf.
type timeKind uint64

const (
	timespecs timeKind = iota
	timevals
	utimbuf
)

func (k timeKind) size() int {
	if k == utimbuf {
		return 16
	}
	return 32
}

// fine are the times in nanoseconds.
func (k timeKind) fine(t [4]int64) [4]int64 {
	switch k {
	case timevals:
		t[1], t[3] = t[1]*1000, t[3]*1000
	case utimbuf:
		t = [4]int64{t[0], 0, t[1], 0}
	}
	return t
}

// setTimes sets times of a file; no times are those of now.
func (n *notice) setTimes(e *entry) error {
	var times *[4]int64
	if n.args[2] != 0 {
		kind := timeKind(n.args[4])
		data := n.read(n.args[2], kind.size())
		if len(data) < kind.size() {
			return syscall.EFAULT
		}
		var read [4]int64
		for i := range len(data) / 8 {
			read[i] = int64(binary.NativeEndian.Uint64(data[8*i:]))
		}
		read = kind.fine(read)
		times = &read
	}
	dir, name, flags := atFDCWD, e.self(), 0
	if e.is(syscall.S_IFLNK) {
		dir, name, flags = e.dir, e.name, noFollow
	}
	p, err := syscall.BytePtrFromString(name)
	if err != nil {
		return err
	}
	_, _, errno := syscall.Syscall6(syscall.SYS_UTIMENSAT, uintptr(dir), uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(times)), uintptr(flags), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
