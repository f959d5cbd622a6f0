package sandbox

import (
	"errors"
	"fmt"
	"net"
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

// holder is the process that holds the mounts of a stage or the caches; see namespace.Hold. It ends
// when its socket closes, so it does not outlive adze.
type holder struct {
	mu      sync.Mutex
	process *os.Process
	conn    *net.UnixConn
}

func holdViews(v *overlay.View, roots []apply.Root) (*holder, error) {
	var views []namespace.HeldFolder
	for i, r := range roots {
		views = append(views, namespace.HeldFolder{Path: r.Path, Upper: v.Folder(i), Dev: r.Dev, Ino: r.Ino})
	}
	return hold(views)
}

func hold(views []namespace.HeldFolder) (_ *holder, err error) {
	conn, theirs, err := socketPair(unix.SOCK_SEQPACKET, "views")
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	h := &holder{conn: conn}
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
		return nil, errors.Join(err, conn.Close())
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
	files, err := h.ask(0)
	closeAll(files)
	return h, err
}

func (h *holder) tree(i int) (*os.File, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	files, err := h.ask(byte(i))
	if err == nil && len(files) != 1 {
		closeAll(files)
		err = errors.New("the holder of views sent none")
	}
	if err != nil {
		return nil, err
	}
	return files[0], nil
}

// ask sends a byte and reads the response, with its descriptor if any.
func (h *holder) ask(what byte) ([]*os.File, error) {
	if _, err := h.conn.Write([]byte{what}); err != nil {
		return nil, fmt.Errorf("the holder of views has ended: %w", err)
	}
	text := make([]byte, 4<<10)
	n, files, _, err := receive(h.conn, text)
	if err != nil || n == 0 {
		return nil, errors.Join(errors.New("the holder of views has ended"), err)
	}
	if why := strings.TrimSpace(string(text[:n])); why != "" {
		closeAll(files)
		return nil, errors.New(why)
	}
	return files, nil
}

// close ends the process. The views last while anyone has a copy of their mounts.
func (h *holder) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.process == nil {
		return
	}
	_ = h.conn.Close()
	_ = h.process.Kill()
	_, _ = h.process.Wait()
	h.process = nil
}
