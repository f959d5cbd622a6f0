package namespace

import (
	"syscall"
	"unsafe"
)

// devices makes a small /dev: no disks, no cameras, no other terminals.
func (t *tree) devices(path string) error {
	fs, err := newFS("tmpfs", attrNoSuid|attrNoExec, "size", "1048576", "mode", "0755")
	if err != nil {
		return err
	}
	defer syscall.Close(fs)
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		if err := t.device(fs, name); err != nil {
			return &Fault{name, err}
		}
	}
	for _, l := range [][2]string{{"/proc/self/fd", "fd"}, {"/proc/self/fd/0", "stdin"}, {"/proc/self/fd/1", "stdout"},
		{"/proc/self/fd/2", "stderr"}, {"pts/ptmx", "ptmx"}} {
		if err := symlinkat(l[0], fs, l[1]); err != nil {
			return err
		}
	}
	for _, name := range []string{"pts", "shm"} {
		if err := syscall.Mkdirat(fs, name, 0o755); err != nil {
			return err
		}
	}
	at, err := t.point(path, true)
	if err != nil {
		return err
	}
	defer syscall.Close(at)
	if err := attach(fs, at); err != nil {
		return err
	}
	return t.terminals(fs)
}

// device adds one of the host's devices to the new folder.
func (t *tree) device(folder int, name string) error {
	from, err := openNoLinks(t.old, "dev/"+name, oPath)
	if err == syscall.ENOENT && name == "tty" {
		return nil
	}
	if err != nil {
		return err
	}
	defer syscall.Close(from)
	made, err := syscall.Openat(folder, name, syscall.O_CREAT|syscall.O_EXCL|syscall.O_CLOEXEC, 0o666)
	if err != nil {
		return err
	}
	_ = syscall.Close(made)
	to, err := openNoLinks(folder, name, oPath)
	if err != nil {
		return err
	}
	defer syscall.Close(to)
	return copyOnto(from, to, attrNoSuid|attrNoExec)
}

// terminals makes the command's pseudo terminals, separate from the user's.
func (t *tree) terminals(dev int) error {
	fs, err := newFS("devpts", attrNoSuid|attrNoExec, "ptmxmode", "0666", "mode", "0620")
	if err != nil {
		return &Fault{"pts", err}
	}
	defer syscall.Close(fs)
	at, err := openNoLinks(dev, "pts", oPath)
	if err != nil {
		return err
	}
	defer syscall.Close(at)
	return attach(fs, at)
}

// proc mounts this namespace's processes.
func (t *tree) proc(path string) error {
	fs, err := newFS("proc", attrNoSuid|attrNoDev|attrNoExec)
	if err != nil {
		return err
	}
	defer syscall.Close(fs)
	at, err := openNoLinks(t.top, path, oPath)
	if err != nil {
		return err
	}
	defer syscall.Close(at)
	return attach(fs, at)
}

func symlinkat(target string, folder int, name string) error {
	_, err := call(syscall.SYS_SYMLINKAT, uintptr(unsafe.Pointer(text(target))), uintptr(folder), uintptr(unsafe.Pointer(text(name))))
	return err
}
