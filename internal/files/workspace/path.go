package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"adze/internal/osfile/delicate"
)

const (
	// maxLinks is the limit for symbolic links in one name, as in Linux (path_resolution(7)).
	maxLinks = 40
	// maxPath bounds a name in bytes: PATH_MAX, the limit for Linux system calls.
	maxPath = 4096
)

// errCircle means that a name goes through more links than the kernel would follow.
var errCircle = errors.New("too many links")

// Path is a resolved name. Only Resolve creates one, so that a tool cannot skip the checks.
type Path struct {
	abs       string
	display   string
	outside   bool
	protected bool
	exists    bool
	consented bool
	links     int
	given     string
	named     string
}

// Abs returns the absolute path, which contained no links when resolved.
func (p Path) Abs() string { return p.abs }

// Display returns the name for users and models: relative to the root with slashes, or absolute
// outside it.
func (p Path) Display() string { return p.display }

// Outside reports whether the path is outside the workspace root.
func (p Path) Outside() bool { return p.outside }

// Protected reports whether writing there could make another program run something (see protects).
func (p Path) Protected() bool { return p.protected }

// Direct reports whether no link was followed, so the name itself identifies the file.
func (p Path) Direct() bool { return p.links == 0 }

// Respelled returns a note if the name on disk is in another Unicode form, else "".
func (p Path) Respelled() string {
	if p.named == p.abs || norm.NFC.String(p.named) != norm.NFC.String(p.abs) {
		return ""
	}
	return "(the name on the disk is the same text in another Unicode form)"
}

// Original returns the name as passed to Resolve.
func (p Path) Original() string { return p.given }

// Named returns the absolute path before resolving links, cleaned lexically. It is for rules about
// names and never opened. Inside makes it relative to the root.
func (p Path) Named() string { return p.named }

// Rel returns abs relative to the root and whether it is below it.
func (r *Root) Rel(abs string) (rel string, inside bool) { return relativeTo(r.dir, abs) }

// Exists reports whether the file existed when the name was resolved.
func (p Path) Exists() bool { return p.exists }

// WithConsent returns p with the permission gate's consent to a path outside the workspace, without
// which Open and Update refuse it. It does not lift protection.
func (p Path) WithConsent() Path {
	p.consented = true
	return p
}

// Resolve resolves a name: it drops a leading @, expands ~, starts relative names at the root and
// follows links element by element. Missing trailing elements stay as written, so new files have a
// path too.
func (r *Root) Resolve(name string) (Path, error) {
	switch {
	case strings.ContainsRune(name, 0):
		return Path{}, fail(InvalidInput, "the path holds a NUL byte; give the plain name")
	case len(name) > maxPath:
		return Path{}, fail(InvalidInput, "the path has %d bytes, at most %d are taken; give a shorter one", len(name), maxPath)
	case name != "" && strings.TrimSpace(name) == "":
		return Path{}, fail(InvalidInput, "the path is blank; name a file or folder")
	}
	if err := r.still(); err != nil {
		return Path{}, err
	}
	full, err := r.absolute(name)
	if err != nil {
		return Path{}, err
	}
	abs, exists, links, err := r.follow(full, r.lstat)
	if err != nil {
		return Path{}, wrap(err, name, "resolve")
	}
	rel, inside := relativeTo(r.dir, abs)
	p := Path{abs: abs, display: rel, outside: !inside, exists: exists, links: links, given: name, named: filepath.Clean(full)}
	if !inside {
		p.display = abs
	}
	p.protected = protects(rel)
	return p, nil
}

// Lead returns the path each name resolves to, "" for an invalid one. Folders shared by several
// names are checked only once; nothing is cached between calls.
func (r *Root) Lead(names []string) []string {
	led := make([]string, len(names))
	if r.still() != nil {
		return led
	}
	seen := map[string]fs.FileInfo{}
	look := func(path string) (fs.FileInfo, error) {
		if info, ok := seen[path]; ok {
			return info, nil
		}
		info, err := r.lstat(path)
		if err == nil {
			seen[path] = info
		}
		return info, err
	}
	for i, name := range names {
		full, err := r.absolute(name)
		if err != nil {
			continue
		}
		if at, _, _, err := r.follow(full, look); err == nil {
			led[i] = at
		}
	}
	return led
}

// NotExist reports, with a single lstat, whether a name relative to the root does not exist.
// Existing names still have to pass Resolve.
func (r *Root) NotExist(rel string) bool {
	_, err := r.lstat(filepath.Join(r.dir, filepath.FromSlash(rel)))
	return gone(err)
}

// absolute makes name absolute without following links. It must not clean the path: in "link/.."
// the parent is that of the link's target.
func (r *Root) absolute(name string) (string, error) {
	name, err := spelled(r.withoutAt(plainName(name)), r.dir)
	switch {
	case err != nil:
		return "", err
	case name == "~" || strings.HasPrefix(name, "~"+separator):
		if r.home == "" {
			return "", fail(InvalidInput, "%s: the home folder is unknown; give an absolute path", name)
		}
		return r.home + name[1:], nil
	case filepath.IsAbs(name):
		return name, nil
	}
	return r.dir + separator + name, nil
}

const separator = string(filepath.Separator)

// withoutAt drops the @ that prompts put before file names, unless it belongs to a real entry such
// as "@types".
func (r *Root) withoutAt(name string) string {
	rest, found := strings.CutPrefix(name, "@")
	if !found {
		return name
	}
	first, _, _ := strings.Cut(name, "/")
	if _, err := r.lstat(filepath.Join(r.dir, first)); err == nil {
		return name
	}
	return rest
}

// follow walks full from the top, replacing links by their targets as the kernel would. The path to
// the root is skipped: it had no links when the root was opened, and still checked that it is the
// same folder.
func (r *Root) follow(full string, look func(path string) (fs.FileInfo, error)) (at string, exists bool, links int, err error) {
	at, rest := top(full, "")
	if below, inside := cutFolder(full, r.dir); inside {
		at, rest = r.dir, below
	}
	todo := parts(rest)
	for len(todo) > 0 {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, part)
		info, err := look(next)
		if gone(err) {
			next = r.otherForm(next)
			info, err = look(next)
		}
		file := err == nil && !info.IsDir() && !leads(info.Mode())
		if gone(err) || file && slices.Contains(todo, "..") { // also below a file: a command may replace it by a folder
			abs, err := tail(next, todo)
			return abs, false, links, err
		}
		if err != nil {
			return "", false, links, err
		}
		if !leads(info.Mode()) {
			at = filepath.Join(at, entryName(next))
			continue
		}
		if links++; links > maxLinks {
			return "", false, links, errCircle
		}
		target, err := os.Readlink(r.at(next))
		if err != nil {
			return "", false, links, err
		}
		at, target = top(target, at)
		todo = append(parts(target), todo...)
	}
	return at, true, links, nil
}

// otherForm returns the only sibling whose name is the same text in another Unicode form, else
// path. macOS writes NFD where models and most keyboards write NFC.
func (r *Root) otherForm(path string) string {
	folder, name := filepath.Split(path)
	if strings.IndexFunc(name, func(c rune) bool { return c > unicode.MaxASCII }) < 0 {
		return path
	}
	d, err := r.openFolder(filepath.Clean(folder))
	if err != nil {
		return path
	}
	defer d.Close()
	names, _ := d.Names(similarScan)
	want := norm.NFC.String(name)
	names = slices.DeleteFunc(names, func(n string) bool { return norm.NFC.String(n) != want })
	if len(names) != 1 {
		return path
	}
	return folder + names[0]
}

// tail joins the elements after a missing one, or after a file. It refuses "..", which has no
// meaning there.
func tail(missing string, rest []string) (string, error) {
	if slices.Contains(rest, "..") {
		return "", &fs.PathError{Op: "resolve", Path: missing, Err: syscall.ENOENT}
	}
	return filepath.Join(append([]string{missing}, rest...)...), nil
}

// relativeTo returns abs relative to dir, with slashes, and true; or abs and false if it is outside
// dir.
func relativeTo(dir, abs string) (string, bool) {
	if sameName(abs, dir) {
		return ".", true
	}
	if rest, ok := cutFolder(abs, dir); ok {
		return filepath.ToSlash(rest), true
	}
	return abs, false
}

// protects reports whether an element in rel names a folder that holds internal data of version
// control or adze.
func protects(rel string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(rel), "/"), delicate.Store)
}
