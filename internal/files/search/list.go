package search

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"slices"
	"strings"

	"adze/internal/files/search/ignore"
)

// ListQuery selects the entries to list.
type ListQuery struct {
	Depth  int      // levels of folders; 1 lists only the root
	Ignore []string // patterns to leave out; without a slash they match at any depth
	Limit  int      // entries to return; must be positive
}

// Entry is a listed directory entry.
type Entry struct {
	Path    string // relative to the tree's root
	Depth   int    // 1 for entries of the root
	Folder  bool
	Link    bool
	Special bool  // FIFO, socket, device
	Size    int64 // of a regular file, in bytes
	Target  string
	Ignored bool // ignored by git; its contents are not listed
}

// ListResult is a listing in which each folder is followed by its contents, folders first, then by
// name.
type ListResult struct {
	Entries     []Entry
	Folders     int // all folders, including those past the limit
	Files       int // all other entries, including those past the limit
	LeftFolders int // folders past the limit
	LeftFiles   int
	Ignored     int // entries below the root left out because git ignores them
	Unreadable  Unreadable
}

// maxDepth bounds ListQuery.Depth and thereby the open folders.
const maxDepth = 64

// List lists a folder. It leaves out ".git" but not other hidden entries.
func (t Tree) List(ctx context.Context, q ListQuery) (ListResult, error) {
	ctx, cancel := t.within(ctx)
	defer cancel()
	switch {
	case q.Limit <= 0:
		return ListResult{}, invalid("limit is %d; it must be positive", q.Limit)
	case q.Depth <= 0 || q.Depth > maxDepth:
		return ListResult{}, invalid("depth is %d; it must be between 1 and %d", q.Depth, maxDepth)
	}
	s, err := t.scope(nil, false, q.Ignore)
	if err != nil {
		return ListResult{}, err
	}
	at, err := t.openRoot()
	if err != nil {
		return ListResult{}, rootError(t.Root, err)
	}
	l := &lister{q: q, scope: s}
	err = l.folder(ctx, at, s.start(), 1)
	at.close()
	if err != nil {
		return ListResult{}, aborted(err)
	}
	if len(l.r.Unreadable.Paths) > 0 && l.r.Unreadable.Paths[0] == "" {
		return ListResult{}, rootError(t.Root, fs.ErrPermission)
	}
	return l.r, nil
}

type lister struct {
	q     ListQuery
	scope *scope
	r     ListResult

	levels []*names // by depth
}

type row struct {
	entry
	ignored bool
}

// folder lists a folder and everything below it. The error is ctx's.
func (l *lister) folder(ctx context.Context, at folder, d dirState, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	// A folder's names are needed until its subfolders are listed, so each level has its own
	// buffer.
	for len(l.levels) < depth {
		l.levels = append(l.levels, &names{})
	}
	n := l.levels[depth-1]
	err := at.read(n, math.MaxInt)
	if errors.Is(err, fs.ErrNotExist) && depth > 1 {
		return nil // deleted since it was opened
	}
	if err != nil {
		l.r.Unreadable.add(d.path)
		return nil
	}
	name := strings.TrimSuffix(d.path, "/")
	d.level = l.scope.rules(at, &d, name[strings.LastIndexByte(name, '/')+1:], n.list)
	folders, files := l.sift(&d, n, depth)
	l.r.Folders += len(folders)
	l.r.Files += len(files)
	if err := l.folders(ctx, at, d, folders, depth); err != nil {
		return err
	}
	l.r.LeftFiles += l.rows(at, d.path, files, depth)
	return ctx.Err()
}

func (l *lister) rows(at folder, path string, rows []row, depth int) (left int) {
	room := l.q.Limit - len(l.r.Entries)
	for _, f := range firstRows(rows, room) {
		l.r.Entries = append(l.r.Entries, f.entry.describe(at, path, depth, f.ignored))
	}
	return max(0, len(rows)-room)
}

// sift separates folders from files and drops excluded entries.
func (l *lister) sift(d *dirState, n *names, depth int) (folders, files []row) {
	n.query.In(d.level)
	for i, e := range n.list {
		isFolder := e.kind == kindFolder
		if e.name == ignore.GitDir || l.drops(d, e.name, isFolder) {
			continue
		}
		ignored := n.query.Ignored(e.name, isFolder)
		switch {
		case ignored && depth > 1:
			l.r.Ignored++
		case isFolder:
			folders = append(folders, row{e, ignored})
		default:
			if files == nil {
				files = make([]row, 0, len(n.list)-i)
			}
			files = append(files, row{e, ignored})
		}
	}
	return folders, files
}

func (l *lister) drops(d *dirState, name string, isFolder bool) bool {
	if l.scope.drop == nil {
		return false
	}
	if isFolder {
		_, matches, _ := l.scope.drop.enter(d.drop, name)
		return matches
	}
	return l.scope.drop.accepts(d.drop, name)
}

// folders lists subfolders with their contents. Those past the limit are only counted.
func (l *lister) folders(ctx context.Context, at folder, d dirState, folders []row, depth int) error {
	if depth == l.q.Depth {
		l.r.LeftFolders += l.rows(at, d.path, folders, depth)
		return nil
	}
	for _, f := range firstRows(folders, len(folders)) {
		if len(l.r.Entries) < l.q.Limit {
			l.r.Entries = append(l.r.Entries, f.entry.describe(at, d.path, depth, f.ignored))
		} else {
			l.r.LeftFolders++
		}
		if f.ignored {
			continue
		}
		if err := l.below(ctx, at, d, f.name, depth); err != nil {
			return err
		}
	}
	return nil
}

// below lists a subfolder.
func (l *lister) below(ctx context.Context, at folder, d dirState, name string, depth int) error {
	child, err := at.openFolder(name)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.r.Unreadable.add(d.path + name + "/")
		}
		return nil
	}
	defer child.close()
	next := dirState{path: d.path + name + "/", level: d.level}
	if l.scope.drop != nil {
		next.drop, _, _ = l.scope.drop.enter(d.drop, name)
	}
	return l.folder(ctx, child, next, depth+1)
}

func firstRows(rows []row, n int) []row {
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.name, b.name) })
	return rows[:min(max(n, 0), len(rows))]
}

func (e entry) describe(at folder, folder string, depth int, ignored bool) Entry {
	out := Entry{
		Path: folder + e.name, Depth: depth, Ignored: ignored,
		Folder: e.kind == kindFolder, Link: e.kind == kindLink, Special: e.kind == kindOther,
	}
	switch e.kind {
	case kindFile:
		if st, err := at.stat(e.name); err == nil {
			out.Size = st.size
		}
	case kindLink:
		out.Target = at.readLink(e.name)
	}
	return out
}
