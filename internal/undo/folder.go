package undo

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// folder is an open folder. Its entries are reached by its descriptor or handle alone.
type folder struct {
	fd int
}

// beneath opens a folder below f by its path, one name at a time, without following links or
// leaving f. "" is f itself.
func (f folder) beneath(path string) (folder, error) {
	at, err := f.openFolder(".")
	for name := range strings.SplitSeq(path, "/") {
		if err != nil || path == "" {
			break
		}
		if name == ".." {
			at.close()
			return folder{fd: -1}, os.ErrPermission
		}
		above := at
		at, err = above.openFolder(name)
		above.close()
	}
	return at, err
}

// content holds a consistent read of a file and its stat.
type content struct {
	bytes []byte
	stat  stat
	attrs string
}

// readFile reads a regular file of at most max bytes, into buf or a larger buffer.
func (f folder) readFile(name string, max int64, buf []byte) (content, error) {
	for range tries {
		c, err := f.readOnce(name, max, buf)
		if !errors.Is(err, errUnstable) {
			return c, err
		}
	}
	return content{}, errUnstable
}

func (f folder) readOnce(name string, max int64, buf []byte) (content, error) {
	file, err := f.openFile(name)
	if err != nil {
		return content{}, err
	}
	defer file.Close()
	before, err := statOpen(file)
	if err != nil {
		return content{}, err
	}
	if !before.isFile() || before.size > max {
		return content{}, fmt.Errorf("%s is not a file of at most %d bytes", name, max)
	}
	// One byte more than expected detects a file that grew.
	if need := int(before.size) + 1; cap(buf) < need {
		buf = make([]byte, need)
	}
	n, err := io.ReadFull(file, buf[:before.size+1])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return content{}, err
	}
	attrs := attrsOf(int(file.Fd()))
	after, err := statOpen(file)
	if err != nil {
		return content{}, err
	}
	if int64(n) != before.size || !before.unchanged(after) {
		return content{}, errUnstable
	}
	return content{buf[:n], after, attrs}, nil
}
