package proc

import (
	"io"
	"os"
	"strconv"
	"time"
)

// Limits for the wait during execve. It takes microseconds, longer on busy processors, and no event
// signals its end.
const (
	execLooks = 50
	execRetry = time.Millisecond
	// emptyLooks is the number of reads with arguments but no environment after which there is
	// none.
	emptyLooks = 5
)

// environ returns a process's initial environment, unless the process has overwritten it. It is
// empty for other users' processes, kernel threads and zombies.
//
// During execve, the kernel shows neither arguments nor environment (proc(5)), and the process
// would look unrelated to any call. So environ reads again.
func environ(pid int) []byte {
	dir := "/proc/" + strconv.Itoa(pid)
	empty := 0
	for range execLooks {
		env, err := readAtOnce(dir + "/environ")
		if err != nil || len(env) > 0 {
			return env
		}
		// One execve can end between two reads, and another begin.
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

// readAtOnce reads a proc(5) file with one system call: between two, execve can change it.
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
