//go:build unix

package live

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"syscall"
)

// longestPath is the smallest sockaddr_un path of all systems, without the final zero.
const longestPath = 103

// sockets accepts a socket's connections.
type sockets struct{ *net.UnixListener }

func (l sockets) Accept() (connection, error) { return l.AcceptUnix() }

// listen creates the socket at a path for the user alone.
func listen(at string) (listener, error) {
	if _, err := os.Lstat(at); err == nil {
		_ = os.Remove(at) // of a killed owner; if it remains, listening fails
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: at, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if err := os.Chmod(at, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return sockets{l}, nil
}

// connect connects to the owner listening at a path. The error is ErrNobody without one.
func connect(ctx context.Context, at string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", at)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, ErrNobody
	}
	return conn, err
}

// private returns an error unless the folder is accessible by the user alone.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is no folder", dir)
	case !ok || int(st.Uid) != os.Getuid():
		return fmt.Errorf("%s belongs to another user", dir)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("others may look into %s; chmod 700 keeps them out", dir)
	}
	return nil
}

func user() string { return strconv.Itoa(os.Getuid()) }
