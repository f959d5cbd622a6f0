package proc

import (
	"io"
	"os"
	"strconv"
	"time"
)

// Bounds of waiting for a process that is changing into another program. The change takes
// microseconds, and longer where the processors are busy; no event tells of its end.
const (
	execLooks = 50
	execRetry = time.Millisecond
	// emptyLooks is how often arguments without an environment are seen before there is none.
	emptyLooks = 5
)

// environ is the environment that a process was started with, as far as the process has not changed
// it. It is empty for processes of other users, kernel threads and zombies.
//
// While execve replaces a process, the kernel shows neither arguments nor environment (proc(5)):
// the process would look like one that belongs to no call. Such a process is looked at again.
func environ(pid int) []byte {
	dir := "/proc/" + strconv.Itoa(pid)
	empty := 0
	for range execLooks {
		env, err := readAtOnce(dir + "/environ")
		if err != nil || len(env) > 0 {
			return env
		}
		// The change can end between two looks, and another begin.
		if args, err := os.ReadFile(dir + "/cmdline"); err != nil || len(args) > 0 {
			if empty++; err != nil || empty == emptyLooks {
				return nil
			}
			continue
		}
		if _, err := os.Readlink(dir + "/exe"); err != nil { // a kernel thread or a zombie
			return nil
		}
		time.Sleep(execRetry)
	}
	return nil
}

// readAtOnce reads a file of proc(5) with one system call: between two, execve can take away what
// is read.
func readAtOnce(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for size := 16 << 10; ; size *= 2 {
		data := make([]byte, size)
		n, err := f.ReadAt(data, 0)
		if n < size {
			if err == io.EOF {
				err = nil
			}
			return data[:n], err
		}
	}
}
