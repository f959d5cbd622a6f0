//go:build unix

package sandbox

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"adze/internal/sandbox/proc"
)

// site is a home made for the self-test, with servers out of a sandbox's reach.
type site struct {
	workspace            string // no program is looked for in it
	top, home, work, own string
	files                map[string]string // in the home; path to content
	tcp, udp             string
	unix, abstract, fifo string
	outsideProcess       *exec.Cmd // a process outside
	closers              []func()
}

func newSite(state, workspace string) (s *site, err error) {
	base := filepath.Join(state, "sandbox")
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, err
	}
	top, err := os.MkdirTemp(base, "test-")
	if err != nil {
		return nil, err
	}
	if top, err = filepath.EvalSymlinks(top); err != nil {
		return nil, err
	}
	s = &site{workspace: workspace, top: top, home: filepath.Join(top, "home"), own: filepath.Join(top, "own"), files: map[string]string{
		"file": "as it was\n", ".ssh/id": "secret\n", "work/.git/config": "[core]\n", "work/.git/HEAD": "ref: refs/heads/main\n",
	}}
	s.work = filepath.Join(s.home, "work")
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if err := s.fill(); err != nil {
		return s, err
	}
	return s, s.serve()
}

func (s *site) fill() error {
	for _, dir := range []string{s.own, filepath.Join(s.work, ".git", "hooks"), filepath.Join(s.home, ".ssh")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	for name, content := range s.files {
		if err := os.WriteFile(filepath.Join(s.home, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(s.own, "secret"), []byte("secret\n"), 0o600); err != nil {
		return err
	}
	return os.Symlink(filepath.Join(s.home, "file"), filepath.Join(s.work, "link"))
}

// serve starts one server of each kind for local programs without a network.
func (s *site) serve() error {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.tcp = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	s.closers = append(s.closers, func() { _ = l.Close() })
	u, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.udp = strconv.Itoa(u.LocalAddr().(*net.UDPAddr).Port)
	s.closers = append(s.closers, func() { _ = u.Close() })
	go echo(u)
	s.unix = filepath.Join(s.home, "socket")
	if runtime.GOOS == "linux" {
		s.unix = filepath.Join(s.work, "socket") // no mount hides it there
	}
	if len(s.unix) > maxSocketPath {
		s.unix = "" // if it cannot be made, it cannot be reached either
	} else if err := s.listen(s.unix); err != nil {
		return err
	}
	return s.serveLinux()
}

func (s *site) listen(path string) error {
	x, err := net.Listen("unix", path)
	if err == nil {
		s.closers = append(s.closers, func() { _ = x.Close() })
	}
	return err
}

// maxSocketPath is the shortest sockaddr_un path among the systems, less a margin.
const maxSocketPath = 100

func (s *site) serveLinux() error {
	if runtime.GOOS != "linux" {
		return nil
	}
	s.abstract = "@" + strings.TrimPrefix(s.top, "/")
	if len(s.abstract) > maxSocketPath {
		s.abstract = s.abstract[:maxSocketPath]
	}
	if err := s.listen(s.abstract); err != nil {
		return err
	}
	s.fifo = filepath.Join(s.home, "fifo")
	if err := syscall.Mkfifo(s.fifo, 0o600); err != nil {
		return err
	}
	reader, err := os.OpenFile(s.fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	s.closers = append(s.closers, func() { _ = reader.Close() })
	sleep, env, err := proc.Helper("sleep", s.workspace)
	if err != nil {
		return err
	}
	s.outsideProcess = exec.Command(sleep, "60")
	s.outsideProcess.Env = env
	if err := s.outsideProcess.Start(); err != nil {
		return err
	}
	s.closers = append(s.closers, func() { _ = s.outsideProcess.Process.Kill(); _ = s.outsideProcess.Wait() })
	return nil
}

func echo(u net.PacketConn) {
	buf := make([]byte, 16)
	for {
		n, from, err := u.ReadFrom(buf)
		if err != nil {
			return
		}
		_, _ = u.WriteTo(buf[:n], from)
	}
}

func (s *site) close() {
	for _, end := range s.closers {
		end()
	}
	_ = os.RemoveAll(s.top)
}
