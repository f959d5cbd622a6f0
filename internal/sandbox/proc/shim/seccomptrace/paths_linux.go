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

// path returns the path from two arguments, valid in this process, which sees the same tree:
// absolute, or through the caller's folder.
func (n *notice) path(at, path int) (string, bool) {
	name, ok := n.text(n.args[path])
	if !ok || strings.HasPrefix(name, "/proc/self/") || strings.HasPrefix(name, "/proc/thread-self/") || strings.HasPrefix(name, "/dev/fd/") ||
		strings.HasPrefix(name, "/dev/std") {
		return "", false // another file for each process
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

// rooted returns an absolute path below the calling process's root.
func (n *notice) rooted(path string) string {
	if strings.HasPrefix(path, "/proc/") {
		return path
	}
	return "/proc/" + strconv.Itoa(int(n.pid)) + "/root" + path
}

// split splits a path without cleaning it: a path through a process's folder must not be cleaned.
func split(path string) (dir, name string) {
	path = strings.TrimRight(path, "/")
	i := strings.LastIndexByte(path, '/')
	if i <= 0 {
		return "/", path[i+1:]
	}
	return path[:i], path[i+1:]
}
