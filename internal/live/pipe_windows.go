package live

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"adze/internal/osfile/ownfile"
)

// longestPath is the limit for programs without long path support.
const longestPath = windows.MAX_PATH - 1

// pipes accepts a named pipe's connections. The pipe's name is unguessable. It is stored in a file
// at the path where Unix has the socket; the system deletes the file with its last handle, even if
// this process is killed.
type pipes struct {
	name   *uint16
	access *windows.SecurityAttributes
	marker *os.File

	mu        sync.Mutex
	closed    bool
	next      windows.Handle // instance for the next client; 0 without one
	connected windows.Overlapped
}

const (
	pipePrefix = `\\.\pipe\adze-live-`
	pipeBuffer = 64 << 10 // bytes each way
)

// listen creates a local pipe for the user and the system alone, and the file that names it.
func listen(at string) (listener, error) {
	access, err := userAlone()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	text := pipePrefix + fmt.Sprint(os.Getpid()) + "-" + rand.Text()
	l := &pipes{access: access}
	if l.name, err = windows.UTF16PtrFromString(text); err != nil {
		return nil, err
	}
	if l.connected.HEvent, err = windows.CreateEvent(nil, 1, 0, nil); err == nil {
		l.next, err = l.instance(windows.FILE_FLAG_FIRST_PIPE_INSTANCE)
	}
	if err != nil {
		l.end()
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if l.marker, err = openMarker(at, windows.GENERIC_WRITE|windows.DELETE, windows.CREATE_ALWAYS, windows.FILE_FLAG_DELETE_ON_CLOSE); err == nil {
		_, err = l.marker.WriteString(text + "\n")
	}
	if err != nil {
		l.end()
		_ = l.marker.Close() // may not exist
		return nil, err
	}
	return l, nil
}

// userAlone grants this process's user and the system all rights, and others none.
func userAlone() (*windows.SecurityAttributes, error) {
	me := user()
	descriptor, err := windows.SecurityDescriptorFromString("O:" + me + "D:P(A;;GA;;;SY)(A;;GA;;;" + me + ")")
	if err != nil {
		return nil, err
	}
	a := &windows.SecurityAttributes{SecurityDescriptor: descriptor}
	a.Length = uint32(unsafe.Sizeof(*a))
	return a, nil
}

// instance creates one end of the pipe, for one client.
func (l *pipes) instance(flags uint32) (windows.Handle, error) {
	h, err := windows.CreateNamedPipe(l.name, windows.PIPE_ACCESS_DUPLEX|windows.FILE_FLAG_OVERLAPPED|flags,
		windows.PIPE_TYPE_BYTE|windows.PIPE_REJECT_REMOTE_CLIENTS, windows.PIPE_UNLIMITED_INSTANCES, pipeBuffer, pipeBuffer, 0, l.access)
	if err != nil {
		return 0, os.NewSyscallError("CreateNamedPipe", err)
	}
	return h, nil
}

// openMarker opens the file that names a pipe. It can be read and deleted while open.
func openMarker(at string, access, how, flags uint32) (*os.File, error) {
	path, err := windows.UTF16PtrFromString(at)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(path, access, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil, how,
		windows.FILE_ATTRIBUTE_NORMAL|flags, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: at, Err: err}
	}
	return os.NewFile(uintptr(h), at), nil
}

// marked reads a pipe's name and its creator. An incomplete file counts as missing.
func marked(at string) (name string, pid uint32, err error) {
	f, err := openMarker(at, windows.GENERIC_READ, windows.OPEN_EXISTING, 0)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, windows.MAX_PATH))
	if err != nil {
		return "", 0, err
	}
	name, whole := strings.CutSuffix(string(raw), "\n")
	if _, err := fmt.Sscanf(name, pipePrefix+"%d-", &pid); err != nil || !whole || strings.ContainsAny(name[len(pipePrefix):], `\/`) {
		return "", 0, fs.ErrNotExist
	}
	return name, pid, nil
}

// Accept waits for a client and prepares an instance for the next one.
func (l *pipes) Accept() (connection, error) {
	for {
		h, err := l.wait()
		switch {
		case err == nil:
			return &pipe{os.NewFile(uintptr(h), "pipe"), time.Now()}, nil
		case h == 0:
			return nil, err
		}
		_ = windows.CloseHandle(h) // the client has disconnected already
	}
}

// wait waits for a client. The caller owns the instance, also on error; without an instance, none
// can be created.
func (l *pipes) wait() (windows.Handle, error) {
	h, err := l.begin()
	if err == windows.ERROR_IO_PENDING {
		var none uint32
		err = windows.GetOverlappedResult(h, &l.connected, &none, true)
	}
	if err == windows.ERROR_PIPE_CONNECTED {
		err = nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		l.end()
		return 0, net.ErrClosed
	}
	if h != 0 {
		l.next, _ = l.instance(0) // begin tries again
	}
	return h, err
}

// begin starts waiting for a client at the next instance.
func (l *pipes) begin() (h windows.Handle, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, net.ErrClosed
	}
	if l.next == 0 {
		if l.next, err = l.instance(0); err != nil {
			return 0, err
		}
	}
	return l.next, windows.ConnectNamedPipe(l.next, &l.connected)
}

// end releases the pipe. The caller holds l.mu, and nobody waits.
func (l *pipes) end() {
	for _, h := range []*windows.Handle{&l.next, &l.connected.HEvent} {
		if *h != 0 {
			_ = windows.CloseHandle(*h)
			*h = 0
		}
	}
}

// Close deletes the file and makes Accept return; Accept must be called until it does.
func (l *pipes) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return net.ErrClosed
	}
	l.closed = true
	if l.next != 0 {
		_ = windows.CancelIoEx(l.next, nil) // there may be no waiter
	}
	return l.marker.Close()
}

type pipe struct {
	*os.File
	since time.Time
}

// Read implements net.Conn.
func (p *pipe) Read(b []byte) (int, error) {
	n, err := p.File.Read(b)
	if errors.Is(err, os.ErrClosed) {
		err = net.ErrClosed
	}
	return n, err
}

// Write implements net.Conn. It returns syscall.EPIPE if the other end is gone.
func (p *pipe) Write(b []byte) (int, error) {
	n, err := p.File.Write(b)
	if errors.Is(err, windows.ERROR_NO_DATA) || errors.Is(err, windows.ERROR_BROKEN_PIPE) {
		err = fmt.Errorf("%w: %w", syscall.EPIPE, err)
	}
	return n, err
}

// CloseRead implements connection.
func (p *pipe) CloseRead() error { return p.SetReadDeadline(time.Unix(1, 0)) }

// handle calls do with the handle.
func (p *pipe) handle(do func(windows.Handle) error) error {
	raw, err := p.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	return errors.Join(raw.Control(func(h uintptr) { failed = do(windows.Handle(h)) }), failed)
}

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

// LocalAddr implements net.Conn.
func (p *pipe) LocalAddr() net.Addr { return pipeAddr{} }

// RemoteAddr implements net.Conn.
func (p *pipe) RemoteAddr() net.Addr { return pipeAddr{} }

// busyTime is the delay before retrying an owner that is accepting another client.
const busyTime = 10 * time.Millisecond

// connect connects to the owner whose pipe is named by the file at a path. The error is ErrNobody
// without one.
func connect(ctx context.Context, at string) (net.Conn, error) {
	for {
		name, pid, err := marked(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, ErrNobody
		}
		if err != nil {
			return nil, err
		}
		pipe, err := open(name, pid)
		if !errors.Is(err, windows.ERROR_PIPE_BUSY) {
			return pipe, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(busyTime):
		}
	}
}

// open opens a pipe created by a process of this user. The owner may identify, but not impersonate,
// the client.
func open(name string, pid uint32) (net.Conn, error) {
	at, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(at, windows.GENERIC_READ|windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_OVERLAPPED|windows.SECURITY_SQOS_PRESENT|windows.SECURITY_IDENTIFICATION, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNobody
	case err != nil:
		return nil, os.NewSyscallError("CreateFile", err)
	}
	p := &pipe{os.NewFile(uintptr(h), "pipe"), time.Now()}
	if err := p.servedBy(pid); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// servedBy checks that the other end is the process that named the pipe, and the user's.
func (p *pipe) servedBy(named uint32) error {
	var pid uint32
	err := p.handle(func(h windows.Handle) error { return windows.GetNamedPipeServerProcessId(h, &pid) })
	if err != nil {
		return os.NewSyscallError("GetNamedPipeServerProcessId", err)
	}
	if pid != named {
		return fmt.Errorf("%w: the pipe is process %d's, and process %d has named it", ErrRefused, pid, named)
	}
	who, err := look(pid)
	if err != nil {
		return fmt.Errorf("look whose process %d is: %w", pid, err)
	}
	defer who.done()
	if !who.mine {
		return fmt.Errorf("%w: the pipe is another user's", ErrRefused)
	}
	return nil
}

// private returns an error if others than administrators can replace files in a folder. They may
// add some: connect checks a pipe's owner.
func private(dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	return ownfile.Mine(0).OwnFolder(dir)
}

func user() string {
	me, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return "user"
	}
	return me.User.Sid.String()
}
