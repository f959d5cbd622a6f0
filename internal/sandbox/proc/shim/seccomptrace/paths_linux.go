//go:build amd64 || arm64

package seccomptrace

import (
	"strconv"
	"strings"
)

const (
	atFDCWD  = -100
	oPath    = 0x200000 // O_PATH
	readOnly = 1        // ST_RDONLY of statfs(2)
)

// path is that of two arguments as this process can look it up, which sees the same tree: absolute,
// or through the folder of the one that asked.
func (n *notice) path(at, path int) (string, bool) {
	name, ok := n.text(n.args[path])
	if !ok || strings.HasPrefix(name, "/proc/self/") || strings.HasPrefix(name, "/proc/thread-self/") || strings.HasPrefix(name, "/dev/fd/") ||
		strings.HasPrefix(name, "/dev/std") {
		return "", false // these are another file for everybody
	}
	if name[0] == '/' {
		return name, true
	}
	from := "/proc/" + strconv.Itoa(int(n.pid)) + "/cwd/"
	if at >= 0 && int32(n.args[at]) != atFDCWD {
		from = "/proc/" + strconv.Itoa(int(n.pid)) + "/fd/" + strconv.Itoa(int(int32(n.args[at]))) + "/"
	}
	return from + name, true
}

// rooted is an absolute path as the process sees it that asked, which may have a root of its own.
func (n *notice) rooted(path string) string {
	if strings.HasPrefix(path, "/proc/") {
		return path
	}
	return "/proc/" + strconv.Itoa(int(n.pid)) + "/root" + path
}

// split parts a path without making it simpler: what leads through a process's folder must not be.
func split(path string) (dir, name string) {
	path = strings.TrimRight(path, "/")
	i := strings.LastIndexByte(path, '/')
	if i <= 0 {
		return "/", path[i+1:]
	}
	return path[:i], path[i+1:]
}
