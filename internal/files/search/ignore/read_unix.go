//go:build unix

package ignore

import (
	"errors"
	"syscall"
)

// readFile returns the start of a regular file, or nothing. A FIFO in its place does not block.
func readFile(path string) []byte { return readWith(path, 0) }

// readInTree is readFile for a file that the tree brings along: like git, it follows no link.
func readInTree(path string) []byte { return readWith(path, syscall.O_NOFOLLOW) }

// readWith makes the system calls itself: each search reads half a dozen of these small files, and
// package os needs twice as many calls for one.
func readWith(path string, flag int) []byte {
	if path == "" {
		return nil
	}
	fd, err := again(func() (int, error) {
		return syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC|flag, 0)
	})
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if syscall.Fstat(fd, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil
	}
	text := make([]byte, 0, min(max(st.Size, 0), MaxFile)+512)
	for len(text) < MaxFile {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		n, err := again(func() (int, error) { return syscall.Read(fd, text[len(text):cap(text)]) })
		if err != nil {
			return nil
		}
		if n == 0 {
			return text
		}
		text = text[:len(text)+n]
	}
	return text[:MaxFile]
}

// again repeats a call that a signal interrupted.
func again(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}
