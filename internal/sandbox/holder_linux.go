package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"adze/internal/sandbox/overlay"
	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim/namespace"
)

// holder is the process that holds the mounts of a stage, or those of caches: see namespace.Hold.
// It ends with the socket, so that it does not outlive adze.
type holder struct {
	mu      sync.Mutex
	process *os.Process
	socket  int
}

// holdViews starts the holder of a stage's views.
func holdViews(v *overlay.View, roots []apply.Root) (*holder, error) {
	var views []namespace.HeldFolder
	for i, r := range roots {
		views = append(views, namespace.HeldFolder{Path: r.Path, Upper: v.Folder(i), Dev: r.Dev, Ino: r.Ino})
	}
	return hold(views)
}

// hold starts a holder.
func hold(views []namespace.HeldFolder) (_ *holder, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "holder of views")
	defer theirs.Close()
	h := &holder{socket: fds[0]}
	root := os.Geteuid() == 0
	ids := namespace.IDs{Set: !root, UID: os.Geteuid(), GID: os.Getegid()}
	sys := &syscall.SysProcAttr{Setsid: true,
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_VM | syscall.CLONE_VFORK,
		AmbientCaps: []uintptr{capChown, capDACOverride, capFowner, capFsetid, capSetpcap, capSysAdmin}}
	if root {
		sys.AmbientCaps = nil
		for c := range uintptr(capLast + 1) {
			sys.AmbientCaps = append(sys.AmbientCaps, c)
		}
	}
	h.process, err = proc.StartHelper(append([]string{namespace.HoldWord}, namespace.HoldArgs(ids, views)...), sys, theirs)
	if err != nil {
		return nil, errors.Join(err, unix.Close(fds[0]))
	}
	defer func() {
		if err != nil {
			h.close()
		}
	}()
	if root {
		if err := mapEverybody(h.process.Pid); err != nil {
			return nil, err
		}
	}
	_, err = h.ask(0)
	return h, err
}

// tree is a detached copy of the mount of a root.
func (h *holder) tree(i int) (*os.File, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fd, err := h.ask(byte(i))
	if err == nil && fd < 0 {
		err = errors.New("the holder of views sent none")
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "view"), nil
}

// ask sends a byte and reads the answer, with the descriptor that it may bring.
func (h *holder) ask(what byte) (fd int, err error) {
	if _, err := unix.Write(h.socket, []byte{what}); err != nil {
		return -1, fmt.Errorf("the holder of views has ended: %w", err)
	}
	text, space := make([]byte, 4<<10), make([]byte, unix.CmsgSpace(4))
	n, rights := 0, 0
	for {
		n, rights, _, _, err = unix.Recvmsg(h.socket, text, space, unix.MSG_CMSG_CLOEXEC)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return -1, os.NewSyscallError("recvmsg", err)
	}
	if n == 0 {
		return -1, errors.New("the holder of views has ended")
	}
	if why := strings.TrimSpace(string(text[:n])); why != "" {
		return -1, errors.New(why)
	}
	messages, err := unix.ParseSocketControlMessage(space[:rights])
	if err != nil || len(messages) == 0 {
		return -1, err
	}
	got, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(got) == 0 {
		return -1, err
	}
	return got[0], nil
}

// close ends the process. The views stay as long as somebody has a copy of their mounts.
func (h *holder) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.process == nil {
		return
	}
	_ = unix.Close(h.socket)
	_ = h.process.Kill()
	_, _ = h.process.Wait()
	h.process = nil
}
