package search

import (
	"errors"
	"io"
	"runtime"

	"golang.org/x/sys/unix"

	"adze/internal/files/search/sign"
)

// state says in which state an entry is, if it is a regular file.
func (f folder) state(name string) (sign.State, bool) {
	st, err := f.fstatat(name)
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return sign.State{}, false
	}
	return sign.StateOf(&st), true
}

// itself says in which state an open folder is.
func (f folder) itself() (sign.State, bool) {
	var st unix.Stat_t
	if err := unix.Fstat(f.fd, &st); err != nil {
		return sign.State{}, false
	}
	return sign.StateOf(&st), true
}

// state says in which state an open file is.
func (h *handle) state() (sign.State, bool) { return folder{fd: h.fd}.itself() }

// state is folder.state without an allocation, of which a search would make one for every file.
func (a *asker) state(f folder, name string) (sign.State, bool) {
	if a.ask(f, name) != nil || a.st.Mode&unix.S_IFMT != unix.S_IFREG {
		return sign.State{}, false
	}
	return sign.StateOf(&a.st), true
}

// signed is a file that is read for its signature.
type signed struct{ fd int }

// openSigned opens a file in a state.
func (f folder) openSigned(name string, s sign.State) (*signed, error) {
	fd, err := openAt(f.fd, name, openFileFlags)
	if err != nil {
		return nil, err
	}
	file := &signed{fd}
	if !file.still(s) {
		return nil, errors.Join(errNotRegular, file.Close())
	}
	return file, nil
}

func (f *signed) Read(p []byte) (int, error) {
	n, err := unix.Read(f.fd, p)
	switch {
	case errors.Is(err, unix.EINTR):
		return 0, nil
	case err != nil:
		return 0, err
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return n, nil
}

// Close gives the file up.
func (f *signed) Close() error { return unix.Close(f.fd) }

// still reports that the file is in that state.
func (f *signed) still(s sign.State) bool {
	var st unix.Stat_t
	return unix.Fstat(f.fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && sign.StateOf(&st) == s
}

// giveWay lets everything else run first. The thread belongs to the goroutine from now on and ends
// with it.
func giveWay() {
	runtime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 10)
}
