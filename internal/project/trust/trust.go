// Package trust is a user's consent to what a project would run: its tools, hooks, servers, what
// language servers load of it, and commands with shell parts.
//
// The one rule: before consent a thing is listed and inert. Consent is per item and pins a hash of
// its definition and of the files of the project that its command names; any change asks again.
// Nothing in the project can give it.
//
// Start reading at Project.Survey. kind.go is the table of kinds, which a new kind joins as one
// row; tools.go, hooks.go, servers.go and commands.go find what stands in a project's
// files, pin.go hashes what a command names, own.go is about the user's own programs that
// take code from a folder, book.go keeps what was allowed in the user's state folder.
//
// Known limits:
//   - A pin covers the files that a command names, but for texts, tables and pictures, and what a
//     known runner reads first (make its Makefile), not what those load in turn. Python is started
//     so that it loads nothing from beside them (from Python 3.11 on); for other interpreters there
//     is no way, and the question says so. A command that names its own result asks again after
//     each run. A program from outside the project is not pinned.
//   - Between the last look at a pinned file and its start lie microseconds in which another
//     program can change it.
package trust

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/project/hooks/dialect"
)

// Item is one thing of a project that would start a program or reach a server.
type Item struct {
	ID      string   `json:"id"` // kind:name, the same whatever the definition says
	Kind    string   `json:"kind"`
	State   State    `json:"state"`
	From    string   `json:"from"`              // the file that defines it, relative to the workspace
	When    string   `json:"when,omitempty"`    // what starts it, such as the event of a hook
	Argv    []string `json:"argv,omitempty"`    // exactly what is started, without a shell; {name} is an argument of the call
	Shell   []string `json:"shell,omitempty"`   // or texts that a shell runs
	URL     string   `json:"url,omitempty"`     // or the server that is dialled
	Cwd     string   `json:"cwd"`               // relative to the workspace
	Env     []string `json:"env,omitempty"`     // names of the variables that it sets
	Files   []Pinned `json:"files,omitempty"`   // of the project that it names
	Hash    string   `json:"sha256,omitempty"`  // over all of this; if empty, it cannot be pinned
	Problem string   `json:"problem,omitempty"` // why it cannot be allowed
	Means   string   `json:"means,omitempty"`   // what a definition of another assistant is here
	Idle    string   `json:"idle,omitempty"`    // why this version does not run it
	Mine    bool     `json:"mine,omitempty"`    // it stands in the user's own configuration, and takes code from this folder

	// Hook is a hook as it was read; Order is its place among all of the project.
	Hook  *dialect.Hook `json:"-"`
	Order int           `json:"-"`

	Path string `json:"-"` // the file that defines it
	Raw  []byte `json:"-"` // its definition, the bytes that were hashed
}

// Pinned is a file of the project that an item names.
type Pinned struct {
	Path string `json:"path"` // relative to the workspace
	Hash string `json:"sha256"`
}

// State is how an item stands.
type State string

const (
	Waiting State = "waiting" // the user was not asked yet
	Changed State = "changed" // it is not any more what the user allowed
	Allowed State = "allowed"
	Unused  State = "unused" // this version does not run it
	Broken  State = "broken" // it cannot be read or pinned
)

// Command is what would run, on one line.
func (i Item) Command() string {
	switch {
	case i.URL != "":
		return i.URL
	case len(i.Argv) > 0:
		words := make([]string, len(i.Argv))
		for n, w := range i.Argv {
			if words[n] = w; w == "" || strings.ContainsAny(w, " \t\n\"'\\$`;&|<>()*?#~") {
				words[n] = "'" + strings.ReplaceAll(w, "'", `'"'"'`) + "'"
			}
		}
		return strings.Join(words, " ")
	}
	return strings.Join(i.Shell, "; ")
}

// Lines are all that is consented to, each with what it is first.
func (i Item) Lines() (out []string) {
	line := func(name, text string) {
		if text != "" {
			out = append(out, fmt.Sprintf("%-8s %s", name, text))
		}
	}
	line("command", i.Command())
	line("when", i.When)
	line("here", i.Means)
	line("folder", cmp.Or(i.Cwd, "."))
	line("sets", strings.Join(i.Env, ", "))
	line("from", i.From)
	for _, f := range i.Files {
		line("file", f.Path+" sha256 "+f.Hash[:16])
	}
	line("loads", i.unpinned())
	line("sha256", i.Hash)
	return out
}

// unpinned says what of an item a hash does not cover. It is empty where the item names no file of
// the project.
func (i Item) unpinned() string {
	switch {
	case i.Mine:
		return "what lies in this folder may become a part of it, and is not pinned"
	case len(i.Files) == 0 || i.Kind == Command:
		return ""
	case slices.ContainsFunc(i.Files, func(f Pinned) bool { return path.Ext(f.Path) == ".py" }) && !slices.Contains(strings.Fields(i.Command()), "-m"):
		return "what these files load in turn is not pinned; Python finds no modules beside them"
	}
	return "what these files load in turn is not pinned"
}

// Project is a workspace, with what its person allowed.
type Project struct {
	Dir string // free of links
	// Main is the same folder of the repository's main checkout, where Dir is in a work tree that adze
	// made of it: what the user allowed there counts here as long as it is the same to the byte. If
	// empty, Dir is nobody's work tree.
	Main string
	Book Book
	// Local is the path of a program that PATH would find inside the workspace, "" for any other; if
	// nil, none is.
	Local func(program string) string
	// SDKs lists what language servers of the user's would run of the project; if nil, nothing. Of an
	// item it says what a kind's find says.
	SDKs func() []Item
	// Own lists what of the user's own configuration takes code from this folder: it is asked about as
	// what a project carries. ID is without the kind. If nil, nothing does.
	Own  func() []Item
	Home string // of the user; if empty, it is not known
}

// Survey lists what the project carries, by kind and name. It reads files and starts nothing. An
// error is about what the user allowed, which then counts as nothing.
func (p Project) Survey() ([]Item, error) {
	var out []Item
	allowed, err := p.allowed()
	root, ferr := p.open()
	if ferr != nil {
		return nil, err
	}
	defer root.Close()
	for _, k := range kinds() {
		found := p.find(root, k)
		for n := range found {
			found[n].State = p.state(found[n], allowed)
		}
		out = append(out, found...)
	}
	for _, i := range p.own() {
		i.State = p.state(i, allowed)
		out = append(out, i)
	}
	return out, err
}

// find lists the items of one kind, hashed.
func (p Project) find(root folder, k kind) []Item {
	items := k.find(root)
	for n := range items {
		i := &items[n]
		i.ID, i.Kind, i.Path = k.name+":"+i.ID, k.name, filepath.Join(p.Dir, filepath.FromSlash(i.From))
		if i.Problem == "" {
			p.pin(i)
		}
	}
	slices.SortStableFunc(items, func(a, b Item) int { return strings.Compare(a.ID, b.ID) })
	return distinct(items)
}

// distinct gives items of one name from several files names of their own.
func distinct(items []Item) []Item {
	seen := map[string]int{}
	for n := range items {
		id := items[n].ID
		if seen[id]++; seen[id] > 1 {
			items[n].ID = fmt.Sprintf("%s@%s", id, items[n].From)
			if seen[items[n].ID]++; seen[items[n].ID] > 1 {
				items[n].ID += fmt.Sprintf("#%d", seen[id])
			}
		}
	}
	return items
}

// allowed is what the user allowed here, and what they did in the main checkout and did not look
// at here. Where the things differ the hash does, and they are asked.
func (p Project) allowed() (map[string]Consent, error) {
	own, err := p.Book.allowed(p.Dir)
	if err != nil {
		return own, err
	}
	if p.Main == "" {
		return counted(own, nil), nil
	}
	main, err := p.Book.allowed(p.Main)
	return counted(own, main), err
}

func (p Project) state(i Item, allowed map[string]Consent) State {
	was, known := allowed[i.ID]
	switch {
	case i.Problem != "":
		return Broken
	case i.Idle != "":
		return Unused
	case known && was.Hash == i.Hash:
		return Allowed
	case known:
		return Changed
	}
	return Waiting
}

// Holds says, right before an item is used, whether it still is what the user allowed; if nil, it
// is.
func (p Project) Holds(i Item) error {
	allowed, err := p.allowed()
	if err != nil {
		return err
	}
	root, err := p.open()
	if err != nil {
		return err
	}
	defer root.Close()
	there := p.own()
	for _, k := range kinds() {
		if k.name == i.Kind && !i.Mine {
			there = p.find(root, k)
		}
	}
	for _, now := range there {
		if now.ID != i.ID {
			continue
		}
		switch state := p.state(now, allowed); {
		case state == Allowed && now.Hash == i.Hash:
			return nil
		case state == Allowed || state == Changed:
			return fmt.Errorf("%s is not what was allowed any more: %s changed; the person looks at it with adze permission trust show %s and allows it again",
				i.ID, p.difference(i, now), i.ID)
		case i.Mine:
			return fmt.Errorf("%s: %s; the user lets it in this folder with adze permission trust allow %s", i.ID, now.Means, i.ID)
		}
		return fmt.Errorf("%s is %s; the person allows it with adze permission trust allow %s", i.ID, now.State, i.ID)
	}
	return fmt.Errorf("%s is not there any more", i.ID)
}

// Allows reports whether the user allowed an item of SDKs as it is now.
func (p Project) Allows(sdk Item) bool {
	allowed, err := p.allowed()
	if err != nil {
		return false
	}
	root, err := p.open()
	if err != nil {
		return false
	}
	defer root.Close()
	found := p.find(root, kind{SDK, func(folder) []Item { return []Item{sdk} }})
	return p.state(found[0], allowed) == Allowed
}

// difference names what changed between two states of an item.
func (p Project) difference(was, is Item) string {
	for _, f := range is.Files {
		if !slices.Contains(was.Files, f) {
			return f.Path
		}
	}
	for _, f := range was.Files {
		if !slices.ContainsFunc(is.Files, func(g Pinned) bool { return g.Path == f.Path }) {
			return f.Path
		}
	}
	return is.From
}

// Open are the items that wait for the user.
func Open(items []Item) []Item {
	return slices.DeleteFunc(slices.Clone(items), func(i Item) bool { return i.State != Waiting && i.State != Changed })
}

// Named finds an item by its id, or by a name that only one has.
func Named(items []Item, name string) (Item, bool) {
	var found []Item
	for _, i := range items {
		if i.ID == name {
			return i, true
		}
		if strings.TrimPrefix(i.ID, i.Kind+":") == name {
			found = append(found, i)
		}
	}
	if len(found) == 1 {
		return found[0], true
	}
	return Item{}, false
}
