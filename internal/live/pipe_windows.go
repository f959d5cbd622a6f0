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
	"syscall"
	"time"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"

	"adze/internal/osfile/ownfile"
)

// longestPath is what programs without long paths can open.
const longestPath = windows.MAX_PATH - 1

// pipes takes the connections of a named pipe. Its name cannot be guessed: it stands in the file
// where Unix has the socket, and which the system removes with its last handle, also when this
// process is killed.
type pipes struct {
	net.Listener
	marker *os.File
}

const (
	pipePrefix = `\\.\pipe\adze-live-`
	pipeBuffer = 64 << 10 // bytes each way
)

// listen makes a pipe that only the user and the system may use, from this machine alone, and the
// file at a path that names it.
func listen(at string) (listener, error) {
	me, name := user(), pipePrefix+fmt.Sprint(os.Getpid())+"-"+rand.Text()
	l, err := winio.ListenPipe(name, &winio.PipeConfig{SecurityDescriptor: "O:" + me + "D:P(A;;GA;;;SY)(A;;GA;;;" + me + ")", InputBufferSize: pipeBuffer, OutputBufferSize: pipeBuffer})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	marker, err := openMarker(at, windows.GENERIC_WRITE|windows.DELETE, windows.CREATE_ALWAYS, windows.FILE_FLAG_DELETE_ON_CLOSE)
	if err == nil {
		_, err = marker.WriteString(name + "\n")
	}
	if err != nil {
		_ = marker.Close() // it may not be there
		return nil, errors.Join(err, l.Close())
	}
	return &pipes{l, marker}, nil
}

// openMarker opens the file that names a pipe. It may be read and removed while it is open.
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

// marked reads the name of a pipe, and which process made it. One that is not all there is not
// there.
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

// Accept waits for a client.
func (l *pipes) Accept() (connection, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &pipe{c, time.Now()}, nil
}

// Close has the file be gone, and Accept return.
func (l *pipes) Close() error { return errors.Join(l.marker.Close(), l.Listener.Close()) }

// pipe is a connection.
type pipe struct {
	net.Conn
	since time.Time
}

// Read implements net.Conn.
func (p *pipe) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	if errors.Is(err, winio.ErrFileClosed) {
		err = net.ErrClosed
	}
	return n, err
}

// Write implements net.Conn. To an end that is gone it is syscall.EPIPE.
func (p *pipe) Write(b []byte) (int, error) {
	n, err := p.Conn.Write(b)
	switch {
	case errors.Is(err, windows.ERROR_NO_DATA), errors.Is(err, windows.ERROR_BROKEN_PIPE):
		err = fmt.Errorf("%w: %w", syscall.EPIPE, err)
	case errors.Is(err, winio.ErrFileClosed):
		err = os.ErrClosed
	}
	return n, err
}

// CloseRead implements connection.
func (p *pipe) CloseRead() error { return p.SetReadDeadline(time.Unix(1, 0)) }

// handle is that of the connection, until it is closed.
func (p *pipe) handle() windows.Handle {
	return windows.Handle(p.Conn.(interface{ Fd() uintptr }).Fd())
}

// connect connects with the owner whose pipe the file at a path names. The error is ErrNobody where
// there is none. The owner may look who connects, and not act in the client's name.
func connect(ctx context.Context, at string) (net.Conn, error) {
	name, pid, err := marked(at)
	var c net.Conn
	if err == nil {
		c, err = winio.DialPipeAccessImpLevel(ctx, name, windows.GENERIC_READ|windows.GENERIC_WRITE, winio.PipeImpLevelIdentification)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNobody
	case err != nil:
		return nil, err
	}
	p := &pipe{c, time.Now()}
	if err := p.servedBy(pid); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// servedBy makes sure that the process which named the pipe is at its other end, and is the user's.
func (p *pipe) servedBy(named uint32) error {
	var pid uint32
	if err := windows.GetNamedPipeServerProcessId(p.handle(), &pid); err != nil {
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

// private says why others, beside those who administer this machine, can replace what is in a
// folder. They may add to it: connect looks whose a pipe is.
func private(dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	return ownfile.Mine(0).Own(dir)
}

func user() string {
	me, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return "user"
	}
	return me.User.Sid.String()
}
