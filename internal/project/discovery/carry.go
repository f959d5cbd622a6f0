// Package discovery finds and reads users' and projects' files for assistants: commands, skills and
// agents, in the folders of adze and of other assistants.
//
// The one rule: it only reads, and only through the workspace. No link leads out of the project,
// only regular files are opened, and known folders are checked without walking the tree. Returned
// text is data: nothing follows it before the user asks.
//
// Start reading at Finder.Find; finder.go opens the folders, places.go is the table of folders,
// look.go searches one, front.go parses front matter, field.go its values. Known limits: front
// matter is parsed as people write it, not as full YAML: no anchors, no tags, no block scalars in
// lists, and maps are skipped with a note.
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

// Kind is a file's role.
type Kind string

// Kinds with folders of their own; instruction files have others.
const (
	Command Kind = "command"
	Skill   Kind = "skill"
	Agent   Kind = "agent"
)

// Origin is an item's owner.
type Origin string

// Origins in order of precedence: a repository must not take over a name that the user types.
const (
	BuiltIn Origin = "built-in"
	Person  Origin = "person"
	Project Origin = "project"
)

// Limits of reading.
const (
	maxFront   = 16 << 10  // bytes of front matter
	MaxFile    = 256 << 10 // bytes of one file
	maxFolders = 2000      // per search
	maxDepth   = 6         // levels below a place
	maxNames   = 1000      // entries per folder
	maxName    = 64        // bytes per part of a name (agentskills.io)
)

// An Item is one command, skill or agent.
type Item struct {
	Kind        Kind
	Name        string // with subfolders joined by colons
	Origin      Origin
	Dialect     string // owner of its folder: adze, agents, claude, opencode, gemini, codex, cursor, copilot
	Path        string // for display: relative to the current folder, or from ~
	File        string // absolute, without links; "" if built in
	Folder      string // a skill's folder, absolute, without links
	Bytes       int64  // file size
	FrontMatter FrontMatter
	ShadowedBy  string   // the shadowing item's Path, or ""
	Problem     string   // why it cannot be used, or ""
	Notes       []string // possibly unintended interpretations

	built string          // text if built in
	root  *workspace.Root // used to read it
	rel   string          // path relative to root
}

// Built returns a built-in command.
func Built(name, description, text string) Item {
	return Item{
		Kind: Command, Name: name, Origin: BuiltIn, Dialect: "adze", Path: "adze", Bytes: int64(len(text)), built: text,
		FrontMatter: FrontMatter{Fields: []Field{{Key: "description", Text: description}}},
	}
}

// Label returns an unambiguous name: a shadowed item has its origin in front.
func (i Item) Label() string {
	if i.ShadowedBy == "" {
		return i.Name
	}
	return string(i.Origin) + ":" + i.Name
}

// Find lists a kind's items by precedence: the user's before the project's, nearer folders before
// parents. Shadowed and unusable items are included. A file reached in two ways is listed once.
func (f *Finder) Find(ctx context.Context, kind Kind) []Item {
	s := search{ctx: ctx, kind: kind, seen: map[string]bool{}}
	for _, p := range f.places(kind) {
		s.place(f, p)
	}
	Shadow(len(s.items), func(n int) *Item { return &s.items[n] })
	return s.items
}

// Shadow marks the items whose name an earlier one has.
func Shadow(many int, at func(n int) *Item) {
	first := map[string]string{}
	for n := range many {
		i := at(n)
		if i.Problem != "" {
			continue // an unusable item shadows nothing
		}
		if by, taken := first[i.Name]; taken {
			i.ShadowedBy = by
		} else {
			first[i.Name] = cmp.Or(i.Path, "what is built in")
		}
	}
}

// Named finds an item: the first with the name; with an origin in front, the first from there; or
// by a name's last part or a skill's folder, if unambiguous.
func Named(items []Item, name string) (Item, bool) {
	name = strings.ReplaceAll(name, "/", ":")
	before, rest, _ := strings.Cut(name, ":")
	if before == "user" { // other assistants' spelling
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
		return i.ShadowedBy == "" && (strings.HasSuffix(i.Name, ":"+name) || path.Base(path.Dir(i.Path)) == name && i.Kind == Skill)
	})
	if len(all) == 1 {
		return all[0], true
	}
	return Item{}, false
}

// A Text is a complete file, read at its use.
type Text struct {
	FrontMatter FrontMatter
	Body        string // without front matter, with LF line ends
	Raw         []byte // file content
	Hash        string // SHA-256 of Raw, in hexadecimal
}

// ErrGone means that a file has changed since it was found.
var ErrGone = errors.New("it is not there any more")

// Read reads an item's complete current file.
func (i Item) Read(ctx context.Context) (Text, error) {
	if i.Origin == BuiltIn {
		return ParseText([]byte(i.built)), nil
	}
	if i.root == nil {
		return Text{}, ErrGone
	}
	raw, _, _, err := read(ctx, i.root, i.rel, i.Origin, MaxFile)
	if err != nil {
		return Text{}, fmt.Errorf("%s: %w", i.Path, err)
	}
	return ParseText(raw), nil
}

// ParseText parses a file's content.
func ParseText(raw []byte) Text {
	sum := sha256.Sum256(raw)
	front, body := Parse(string(raw))
	return Text{FrontMatter: front, Body: body, Raw: raw, Hash: hex.EncodeToString(sum[:])}
}

// read opens a file: a project's inside the project only, a user's also behind a link, because
// people keep their files in repositories. A link's target must have the same extension, so that no
// key or table of secrets becomes text for the model. It returns at most limit bytes, and the full
// size.
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
		p = p.WithConsent()
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

// spoken reports whether a name can be typed after a slash and listed: letters and digits,
// separated by - _ or a dot.
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
