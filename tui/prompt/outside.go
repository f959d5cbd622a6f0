package prompt

import (
	"strings"

	"adze/tui/list"
)

// Folder lists a folder named in the prompt: "~/", "../src/", "/etc/".
type Folder struct {
	dir     string // as written
	base    string // real path
	entries []string
	err     error
}

// NewFolder returns a folder with its real path and entries; names of folders end in a slash.
func NewFolder(dir, base string, entries []string, err error) Folder {
	return Folder{dir, base, entries, err}
}

// outside splits a query with an explicit folder into that folder and a name's beginning. It
// returns false for a query within the workspace.
func outside(query string) (dir, start string, is bool) {
	for _, lead := range []string{"~/", "../", "./", "/"} {
		if strings.HasPrefix(query, lead) {
			cut := strings.LastIndexByte(query, '/') + 1
			return query[:cut], query[cut:], true
		}
	}
	return "", "", false
}

// findOutside completes a name in an explicit folder. It returns the folder if its entries are not
// known yet.
func (u *Menu) findOutside(dir, start string) (wanted string) {
	u.items, u.selected = nil, 0
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

// maxOutside limits the offered names of a folder.
const maxOutside = 200

// Listing sets a folder's entries, unless the prompt names another one by now.
func (p *Line) Listing(f Folder) {
	u := p.Menu
	if u.folder.dir != f.dir || u.kind != fileMenu {
		return
	}
	u.folder, u.failed = f, f.err
	if dir, start, is := outside(p.Text[u.wordStart+1 : p.Cursor]); is && dir == f.dir {
		u.findOutside(dir, start)
	}
}
