// Package discovery finds and reads what projects and users carry for assistants: commands, skills
// and agents, in adze's own folders and in those of other assistants.
//
// The one rule: it reads only, and through the workspace. No link leads out of the project, only
// regular files are opened, places are probed and the tree is never walked; text that it returns is
// data, which nobody obeys before the user says so.
//
// Start reading at Finder.Find; finder.go opens the folders, places.go is the table of places,
// look.go goes through one of them, front.go reads the front matter, field.go its values. Known
// limits: the front matter is read as people write it, not as YAML: no anchors, no tags, no block
// scalar within a list, and a map is noticed and not read.
package discovery

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"adze/internal/files/workspace"
	"adze/internal/osfile/ownfile"
)

// Kind is what a file is to an assistant.
type Kind string

// The kinds that are found in places; instruction files have places of their own.
const (
	Command Kind = "command"
	Skill   Kind = "skill"
	Agent   Kind = "agent"
)

// Origin is whose a thing is.
type Origin string

// Origins, in the order in which they win a name: a repository must not take over a name that the
// user types.
const (
	BuiltIn Origin = "built-in"
	Person  Origin = "person"
	Project Origin = "project"
)

// Bounds of what is read.
const (
	maxFront   = 16 << 10  // bytes of front matter
	MaxFile    = 256 << 10 // bytes of one file
	maxFolders = 2000      // looked at in one search
	maxDepth   = 6         // folders below a place
	maxNames   = 1000      // entries of one folder
	maxName    = 64        // bytes of one part of a name (agentskills.io)
)

// Item is one command, skill or agent.
type Item struct {
	Kind    Kind
	Name    string // as it is called; folders below a place are joined by a colon
	Origin  Origin
	Dialect string   // whose folder it is in: adze, agents, claude, opencode, gemini, codex, cursor, copilot
	Path    string   // for people: relative to the working folder, or from ~
	File    string   // absolute, free of links; if empty, built in
	Folder  string   // of a skill: the one that it lies in, absolute, free of links
	Bytes   int64    // of the file
	Front   Front    // its front matter
	By      string   // the Path of what has its name first; if empty, it is reached by its name
	Problem string   // why it cannot be used; if empty, it can
	Notes   []string // what was taken in a way that its writer may not have meant

	built string          // the text of one that is built in
	root  *workspace.Root // that it is read through
	rel   string          // its name for that
}

// Built is a command that is built in.
func Built(name, description, text string) Item {
	return Item{
		Kind: Command, Name: name, Origin: BuiltIn, Dialect: "adze", Path: "adze", Bytes: int64(len(text)), built: text,
		Front: Front{Fields: []Field{{Key: "description", Text: description}}},
	}
}

// Label is the name by which an item is reached whatever else is there: one that is shadowed has
// its origin in front.
func (i Item) Label() string {
	if i.By == "" {
		return i.Name
	}
	return string(i.Origin) + ":" + i.Name
}

// Find lists what there is of a kind, in the order in which names are won: the user's before the
// project's, nearer folders before those above. What is shadowed, or cannot be used, is listed too.
// Of a file that is reached in two ways there is one item.
func (f *Finder) Find(ctx context.Context, kind Kind) []Item {
	s := search{ctx: ctx, kind: kind, seen: map[string]bool{}}
	for _, p := range f.places(kind) {
		s.place(f, p)
	}
	Shadow(len(s.items), func(n int) *Item { return &s.items[n] })
	return s.items
}

// Shadow marks in a list of many items whose first names win those whose name is taken.
func Shadow(many int, at func(n int) *Item) {
	first := map[string]string{}
	for n := range many {
		i := at(n)
		if i.Problem != "" {
			continue // what cannot be used takes no name
		}
		if by, taken := first[i.Name]; taken {
			i.By = by
		} else {
			first[i.Name] = cmp.Or(i.Path, "what is built in")
		}
	}
}

// Named finds what a name means in a list: the first that has it; with an origin in front the first
// of that origin; and the last part of a name, or the folder of a skill, where only one has it.
func Named(items []Item, name string) (Item, bool) {
	name = strings.ReplaceAll(name, "/", ":")
	before, rest, _ := strings.Cut(name, ":")
	if before == "user" { // as others say
		before = string(Person)
	}
	found := func(fits func(Item) bool) (out []Item) {
		for _, i := range items {
			if i.Problem == "" && fits(i) {
				out = append(out, i)
			}
		}
		return out
	}
	if all := found(func(i Item) bool { return i.Name == name }); len(all) > 0 {
		return all[0], true
	}
	if all := found(func(i Item) bool { return i.Origin != BuiltIn && string(i.Origin) == before && i.Name == rest }); len(all) > 0 {
		return all[0], true
	}
	all := found(func(i Item) bool {
		return i.By == "" && (strings.HasSuffix(i.Name, ":"+name) || path.Base(path.Dir(i.Path)) == name && i.Kind == Skill)
	})
	if len(all) == 1 {
		return all[0], true
	}
	return Item{}, false
}

// Text is a whole file, read when it is used.
type Text struct {
	Front Front
	Body  string // without front matter, lines end with a line feed
	Raw   []byte // as it stands on the disk
	Hash  string // sha256 of Raw, in hexadecimal
}

// ErrGone says that a file is not what it was when it was found.
var ErrGone = errors.New("it is not there any more")

// Read reads an item's whole file as it is now.
func (i Item) Read(ctx context.Context) (Text, error) {
	if i.Origin == BuiltIn {
		return Whole([]byte(i.built)), nil
	}
	if i.root == nil {
		return Text{}, ErrGone
	}
	raw, _, _, err := read(ctx, i.root, i.rel, i.Origin, MaxFile)
	if err != nil {
		return Text{}, fmt.Errorf("%s: %w", i.Path, err)
	}
	return Whole(raw), nil
}

// Whole is the text of a file.
func Whole(raw []byte) Text {
	sum := sha256.Sum256(raw)
	front, body := Parse(string(raw))
	return Text{Front: front, Body: body, Raw: raw, Hash: hex.EncodeToString(sum[:])}
}

// read opens a file: of a project one inside it, of a user also where a link leads, because people
// keep what is theirs in a repository of their own. A link must lead to a file of the same ending,
// so that none makes a key or a table of secrets into a text for the model. It returns at most
// limit bytes, and the size of the whole.
func read(ctx context.Context, root *workspace.Root, rel string, of Origin, limit int64) (raw []byte, size int64, p workspace.Path, err error) {
	if p, err = root.Resolve(rel); err != nil {
		return nil, 0, p, err
	}
	switch {
	case !p.Direct() && filepath.Ext(p.Abs()) != filepath.Ext(rel):
		return nil, 0, p, errors.New("it is a link to a file of another kind")
	case p.Outside() && of == Project:
		return nil, 0, p, errors.New("it is a link out of the project")
	case p.Outside():
		p = p.Consented()
	}
	if of == Person && p.Exists() {
		if err := ownfile.Mine(math.MaxInt64).Check(filepath.Join(root.Dir(), rel)); err != nil {
			return nil, 0, p, err
		}
	}
	file, err := root.Open(p)
	if err != nil {
		return nil, 0, p, err
	}
	defer file.Close()
	if file.Size() > MaxFile {
		return nil, 0, p, fmt.Errorf("it has %d bytes, at most %d are read", file.Size(), MaxFile)
	}
	if limit < file.Size() {
		raw, err = file.Head(int(limit))
		return raw, file.Size(), p, err
	}
	raw, err = file.Bytes(ctx, MaxFile)
	return raw, file.Size(), p, err
}

// spoken reports whether a name can be typed after a slash and shown in a list: parts of letters,
// digits, and - _ . in between.
func spoken(name string) bool {
	if !utf8.ValidString(name) || name == "" {
		return false
	}
	for part := range strings.SplitSeq(name, ":") {
		if part == "" || len(part) > maxName || part[0] == '.' || part[0] == '-' {
			return false
		}
		if strings.IndexFunc(part, func(r rune) bool { return !letter(r) }) >= 0 {
			return false
		}
	}
	return true
}
