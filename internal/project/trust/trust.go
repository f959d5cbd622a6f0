// Package trust holds the user's consent to code that a project would run: tools, hooks, servers,
// code for language servers, and commands with shell parts.
//
// The one rule: before consent an item is listed and inert. Consent is per item and pins a hash of
// its definition and of the project files that its command names; any change asks again. Nothing in
// the project can give consent.
//
// Start reading at Project.Survey. kind.go is the table of kinds (a new kind is one row); tools.go,
// hooks.go, servers.go and commands.go search a project's files, pin.go hashes the files of a
// command, own.go handles the user's own programs that take code from a folder, book.go stores the
// consents in the user's state folder.
//
// Known limits:
//   - A pin covers the files that a command names, except texts, tables and images, and
//     the file that a known runner reads first (such as a Makefile), but not files loaded
//     from there. Python is started so that it loads nothing from beside them (from
//     Python 3.11 on); other interpreters cannot be, and the question says so. A command
//     that names its own output asks again after each run. Programs outside the project
//     are not pinned.
//   - Another program can change a pinned file in the microseconds between the last check
//     and the start.
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

// An Item is a part of a project that would start a program or connect to a server.
type Item struct {
	ID         string   `json:"id"` // kind:name, independent of the definition
	Kind       string   `json:"kind"`
	State      State    `json:"state"`
	Source     string   `json:"from"`              // defining file, relative to the workspace
	Trigger    string   `json:"when,omitempty"`    // trigger, such as a hook's event
	Argv       []string `json:"argv,omitempty"`    // exact command, without a shell; {name} is an argument of the call
	Shell      []string `json:"shell,omitempty"`   // or texts for a shell
	URL        string   `json:"url,omitempty"`     // or the server's address
	Cwd        string   `json:"cwd"`               // relative to the workspace
	Env        []string `json:"env,omitempty"`     // names of the variables that it sets
	Files      []Pinned `json:"files,omitempty"`   // project files that it names
	Hash       string   `json:"sha256,omitempty"`  // of all this; "" if it cannot be pinned
	Problem    string   `json:"problem,omitempty"` // why it cannot be allowed
	Definition string   `json:"means,omitempty"`   // another assistant's definition in adze's terms
	Idle       string   `json:"idle,omitempty"`    // why this version does not run it
	Mine       bool     `json:"mine,omitempty"`    // from the user's own configuration, taking code from this folder

	// Hook is the parsed hook; Order is its index among the project's hooks.
	Hook  *dialect.Hook `json:"-"`
	Order int           `json:"-"`

	Path string `json:"-"` // defining file
	Raw  []byte `json:"-"` // hashed definition
}

// A Pinned is a project file that an item names.
type Pinned struct {
	Path string `json:"path"` // relative to the workspace
	Hash string `json:"sha256"`
}

// State is an item's consent state.
type State string

const (
	Waiting State = "waiting" // the user was not asked yet
	Changed State = "changed" // differs from the allowed version
	Allowed State = "allowed"
	Unused  State = "unused" // this version does not run it
	Broken  State = "broken" // cannot be read or pinned
)

// Command returns the item's command on one line.
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

// Lines lists all that the consent covers, each line with its label.
func (i Item) Lines() (out []string) {
	line := func(name, text string) {
		if text != "" {
			out = append(out, fmt.Sprintf("%-8s %s", name, text))
		}
	}
	line("command", i.Command())
	line("when", i.Trigger)
	line("here", i.Definition)
	line("folder", cmp.Or(i.Cwd, "."))
	line("sets", strings.Join(i.Env, ", "))
	line("from", i.Source)
	for _, f := range i.Files {
		line("file", f.Path+" sha256 "+f.Hash[:16])
	}
	line("loads", i.unpinned())
	line("sha256", i.Hash)
	return out
}

// unpinned describes the parts that the hash does not cover. It returns "" if the item names no
// project file.
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

// A Project is a workspace with the user's consents.
type Project struct {
	Dir string // without links
	// Main is this folder in the main checkout if Dir is in a work tree made by adze, else "".
	// Consents from there count here while the items are identical.
	Main string
	Book Book
	// Local returns the path of a program that PATH finds inside the workspace, else "". It may be
	// nil.
	Local func(program string) string
	// SDKs lists project code that the user's language servers would run, with the same fields as a
	// kind's find. It may be nil.
	SDKs func() []Item
	// UserItems lists items of the user's configuration that take code from this folder and need the
	// same consent. ID lacks the kind. It may be nil.
	UserItems func() []Item
	Home      string // the user's; "" if unknown
}

// Survey lists the project's items by kind and name. It reads files and starts nothing. On an
// error, which concerns the book, no consent counts.
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

func (p Project) find(root folder, k kind) []Item {
	items := k.find(root)
	for n := range items {
		i := &items[n]
		i.ID, i.Kind, i.Path = k.name+":"+i.ID, k.name, filepath.Join(p.Dir, filepath.FromSlash(i.Source))
		if i.Problem == "" {
			p.pin(i)
		}
	}
	slices.SortStableFunc(items, func(a, b Item) int { return strings.Compare(a.ID, b.ID) })
	return distinct(items)
}

// distinct renames items that share a name across files.
func distinct(items []Item) []Item {
	seen := map[string]int{}
	for n := range items {
		id := items[n].ID
		if seen[id]++; seen[id] > 1 {
			items[n].ID = fmt.Sprintf("%s@%s", id, items[n].Source)
			if seen[items[n].ID]++; seen[items[n].ID] > 1 {
				items[n].ID += fmt.Sprintf("#%d", seen[id])
			}
		}
	}
	return items
}

// allowed returns the valid consents, including those of the main checkout. Different items have
// different hashes and need a new consent.
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

// Holds returns an error if an item has changed since the user allowed it. Call it right before
// each use.
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
			return fmt.Errorf("%s: %s; the user lets it in this folder with adze permission trust allow %s", i.ID, now.Definition, i.ID)
		}
		return fmt.Errorf("%s is %s; the person allows it with adze permission trust allow %s", i.ID, now.State, i.ID)
	}
	return fmt.Errorf("%s is not there any more", i.ID)
}

// Allows reports whether the user allowed an item of SDKs in its current form.
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

// difference names the changes between two states of an item.
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
	return is.Source
}

// Open returns the items without a decision.
func Open(items []Item) []Item {
	return slices.DeleteFunc(slices.Clone(items), func(i Item) bool { return i.State != Waiting && i.State != Changed })
}

// Named finds an item by its id, or by an unambiguous name.
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
