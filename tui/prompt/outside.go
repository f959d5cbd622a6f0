package prompt

import (
	"strings"

	"adze/tui/list"
)

// Folder is what stands in a folder that was written out: "~/", "../src/", "/etc/".
type Folder struct {
	dir     string // as it was written
	base    string // what it is
	entries []string
	err     error
}

// NewFolder is a folder, with its real path and the names in it; those of folders end in a slash.
func NewFolder(dir, base string, entries []string, err error) Folder {
	return Folder{dir, base, entries, err}
}

// outside parts a query that leads out of the workspace, or through it step by step, into its
// folder and the beginning of a name; if false, it is searched for in the workspace.
func outside(query string) (dir, start string, is bool) {
	for _, lead := range []string{"~/", "../", "./", "/"} {
		if strings.HasPrefix(query, lead) {
			cut := strings.LastIndexByte(query, '/') + 1
			return query[:cut], query[cut:], true
		}
	}
	return "", "", false
}

// findOutside completes in a folder that was written out. It reports the folder when that is not
// known yet.
func (u *Menu) findOutside(dir, start string) (wanted string) {
	u.items, u.at = nil, 0
	if u.folder.dir != dir {
		u.folder = Folder{dir: dir}
		return dir
	}
	for _, name := range u.folder.entries {
		hidden := strings.HasPrefix(name, ".") && !strings.HasPrefix(start, ".")
		if !hidden && len(u.items) < maxOutside && strings.HasPrefix(strings.ToLower(name), strings.ToLower(start)) {
			u.items = append(u.items, list.Choice{ID: u.folder.base + name, Label: dir + name})
		}
	}
	return ""
}

// maxOutside bounds the names that are offered of one folder.
const maxOutside = 200

// Listing takes what stands in a folder, unless another one is being written by now.
func (p *Line) Listing(f Folder) {
	u := p.Menu
	if u.folder.dir != f.dir || u.kind != fileMenu {
		return
	}
	u.folder, u.failed = f, f.err
	if dir, start, is := outside(p.Text[u.from+1 : p.At]); is && dir == f.dir {
		u.findOutside(dir, start)
	}
}
