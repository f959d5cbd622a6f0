package namespace

import (
	"strconv"
	"syscall"
)

// Build makes a box's mounts for the whole process and checks them. Call it before confining any
// thread.
func (b Box) Build() error {
	if b.Empty() {
		return nil
	}
	if b.IDs.Set {
		if err := b.IDs.apply(); err != nil {
			return err
		}
	}
	if b.NewNamespaces {
		if err := b.assemble(); err != nil {
			return err
		}
		if err := loopbackUp(); err != nil {
			return &Fault{"loopback interface", err}
		}
		b.capPIDs()
	}
	if b.Door > 0 {
		if err := openDoor(b.Door); err != nil {
			return &Fault{"open the way to the network", err}
		}
	}
	if err := b.check(); err != nil {
		return err
	}
	// This keeps the command from reading this process (prctl(2)).
	if _, err := call(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0); err != nil {
		return &Fault{"conceal the supervising process", err}
	}
	return nil
}

// apply maps this user and group to themselves (user_namespaces(7)). adze cannot do it, because it
// is concealed and so are the files of its new children.
func (ids IDs) apply() error {
	uid, gid := strconv.Itoa(ids.UID), strconv.Itoa(ids.GID)
	for _, f := range [][2]string{{"setgroups", "deny"}, {"uid_map", uid + " " + uid + " 1"}, {"gid_map", gid + " " + gid + " 1"}} {
		if err := writeFile("/proc/self/"+f[0], f[1]); err != nil {
			return &Fault{"write " + f[0], err}
		}
	}
	return nil
}

func writeFile(path, content string) error {
	fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	_, err = syscall.Write(fd, []byte(content))
	return err
}

// assemble makes the command's tree and moves the process into it.
func (b Box) assemble() error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return &Fault{"make mounts private", err}
	}
	old, err := syscall.Open("/", oPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return &Fault{"open the root folder", err}
	}
	defer syscall.Close(old)
	top, err := cloneTree(old)
	if err != nil {
		return &Fault{"copy the mounts", err}
	}
	defer syscall.Close(top)
	if err := setAttr(top, attrReadOnly|attrNoSuid|attrNoDev, 0); err != nil {
		return &Fault{"make all mounts read only", err}
	}
	// On top of the root folder it hides nothing: paths start below it until the switch.
	if err := attach(top, old); err != nil {
		return &Fault{"attach the new root", err}
	}
	t := tree{old: old, top: top}
	if err := t.makeEmpty(); err != nil {
		return &Fault{"make an empty folder", err}
	}
	defer syscall.Close(t.empty)
	for _, m := range b.Mounts {
		if err := t.add(m); err != nil {
			return &Fault{m.Path, err}
		}
	}
	for _, fs := range t.hollow {
		if err := setOwnAttr(fs, attrReadOnly); err != nil {
			return &Fault{"make an empty folder read only", err}
		}
		_ = syscall.Close(fs)
	}
	return enter(top)
}

// enter makes the tree this process's root and releases the host's.
func enter(top int) error {
	if err := syscall.Fchdir(top); err != nil {
		return &Fault{"enter the new root", err}
	}
	if err := syscall.PivotRoot(".", "."); err != nil {
		return &Fault{"switch to the new root", err}
	}
	// The host's root is now on top, at the same place.
	if err := syscall.Unmount(".", syscall.MNT_DETACH); err != nil {
		return &Fault{"let go of the old root", err}
	}
	if err := syscall.Chdir("/"); err != nil {
		return &Fault{"enter the new root", err}
	}
	return nil
}

// capPIDs limits the namespace's processes in the kernel, since Linux 6.14; otherwise the watch in
// package shim does. The kernel's minimum is 301.
func (b Box) capPIDs() {
	if b.Processes > 0 {
		_ = writeFile("/proc/sys/kernel/pid_max", strconv.FormatUint(max(b.Processes, 301), 10))
	}
}
