package undo

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"

	"adze/internal/osfile/winfile"
)

// writeFile creates a file with exactly this mode and these attributes. It fails if the name
// exists.
func (f folder) writeFile(name string, content []byte, mode uint32, attrs string) error {
	h, err := winfile.Open(f.handle(), name, windows.FILE_GENERIC_READ|windows.FILE_GENERIC_WRITE, windows.FILE_CREATE, fileKind)
	if err != nil {
		return pathError("create", name, err)
	}
	file := os.NewFile(uintptr(h), name)
	if _, err = file.Write(content); err == nil {
		err = errors.Join(file.Sync(), setAttributes(h, mode, attrs))
	}
	return errors.Join(err, file.Close())
}

// symlink needs the privilege to create links, which users have in Windows' developer mode.
func (f folder) symlink(target, name string) error {
	path, err := f.path(name)
	if err != nil {
		return err
	}
	return os.Symlink(target, path)
}

func (f folder) makeFolder(name string) error {
	h, err := winfile.Open(f.handle(), name, windows.FILE_READ_ATTRIBUTES|windows.SYNCHRONIZE, windows.FILE_CREATE, folderKind)
	if err != nil {
		return pathError("make", name, err)
	}
	return windows.CloseHandle(h)
}

// chmod does nothing: all folders have the same mode.
func (f folder) chmod(string, uint32) error { return nil }

// dress sets a folder's attributes.
func (f folder) dress(name string, _ uint32, attrs string) error {
	if name == "." {
		return nil
	}
	return f.change(name, folderKind, 0o700, attrs)
}

// change sets an entry's attributes without following links.
func (f folder) change(name string, kind, mode uint32, attrs string) error {
	h, err := winfile.Open(f.handle(), name, windows.FILE_READ_ATTRIBUTES|windows.FILE_WRITE_ATTRIBUTES|windows.SYNCHRONIZE, windows.FILE_OPEN, kind)
	if err != nil {
		return pathError("change", name, err)
	}
	defer windows.CloseHandle(h)
	return setAttributes(h, mode, attrs)
}

// remove removes a file or link, even a read-only one, as on other systems.
func (f folder) remove(name string) error {
	st, err := f.stat(name)
	if err != nil {
		return err
	}
	if st.isLink() {
		return pathError("remove", name, winfile.Remove(f.handle(), name, 0))
	}
	locked := st.isFile() && st.mode&0o200 == 0
	var attrs string
	if locked {
		attrs = f.attrs(name)
		if err := f.change(name, fileKind, 0o600, attrs); err != nil {
			return err
		}
	}
	err = winfile.Remove(f.handle(), name, fileKind)
	if err != nil && locked {
		err = errors.Join(err, f.change(name, fileKind, 0o400, attrs))
	}
	return pathError("remove", name, err)
}

func (f folder) attrs(name string) string {
	file, err := f.openFile(name)
	if err != nil {
		return ""
	}
	defer file.Close()
	return attrsOf(int(file.Fd()))
}

func (f folder) removeFolder(name string) error {
	return pathError("remove", name, winfile.Remove(f.handle(), name, folderKind))
}

// move renames an entry. It fails if the new name exists.
func (f folder) move(from, to string) error {
	return pathError("rename", from, winfile.Rename(f.handle(), from, to, false))
}

// asideOf returns the name for an entry that exchange moves aside.
func asideOf(made string) string { return made + "-x" }

// exchange swaps a new file with the entry at name and gives the file that entry's access list.
// Windows has no atomic exchange: the entry moves aside, the file takes its place, and the entry
// takes the file's. For a moment nothing is at name. No step replaces anything, and endExchange
// continues after a crash. between is called between two steps.
func (f folder) exchange(made, name string, between func()) error {
	f.keepAccess(made, name)
	aside := asideOf(made)
	if err := f.move(name, aside); err != nil {
		return err
	}
	between()
	if err := f.move(made, name); err != nil {
		return errors.Join(err, f.move(aside, name))
	}
	between()
	return f.move(aside, made)
}

// endExchange ends an interrupted exchange: the entry that was moved aside goes back, or takes the
// new file's place.
func (f folder) endExchange(made, name string) error {
	aside := asideOf(made)
	if _, err := f.stat(aside); err != nil {
		return ignoreAbsent(err)
	}
	if _, err := f.stat(made); errors.Is(err, fs.ErrNotExist) {
		return f.move(aside, made)
	}
	return f.move(aside, name)
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// keepAccess copies from's access list if it has explicit entries.
func (f folder) keepAccess(to, from string) {
	old, err := winfile.Open(f.handle(), from, windows.READ_CONTROL|windows.SYNCHRONIZE, windows.FILE_OPEN, fileKind)
	if err != nil {
		return // a link, or an unreadable access list
	}
	defer windows.CloseHandle(old)
	made, err := winfile.Open(f.handle(), to, windows.WRITE_DAC|windows.SYNCHRONIZE, windows.FILE_OPEN, fileKind)
	if err != nil {
		return
	}
	defer windows.CloseHandle(made)
	winfile.KeepAccess(made, old)
}

// syncAll does nothing: each file was synced, and NTFS journals folders.
func (f folder) syncAll() error { return nil }
