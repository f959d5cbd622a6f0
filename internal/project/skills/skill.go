// Package skills provides skills of users and projects in the format of agentskills.io: an index of
// names and descriptions for the system prompt, and texts loaded on demand.
//
// The one rule: the index is fixed for a session and texts come later, so that each request begins
// with the bytes of the one before; a skill is text and grants nothing.
//
// Start reading at Catalog.Index, then Catalog.Load. A skill's scripts and files are used through
// the normal tools and permission check. A user's skill outside the workspace may be read without a
// question, except for possible secrets: Lent returns those folders.
//
// Known limits: if the index is too long, the first prompt decides once which descriptions stay; a
// skill that changes during a session keeps its description in the index.
package skills

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"adze/internal/project/discovery"
	"adze/prompts"
	"adze/session"
	"adze/tool"
	"adze/tool/rank"
	"adze/toolset"
)

// maxFiles limits the files named with a loaded skill.
const maxFiles = 50

// A Shelf holds a session's skills. It is safe for concurrent use.
type Catalog struct {
	items []discovery.Item
	find  *rank.Picker
	// InContext reports whether a session's model still has the text with a hash. If nil, it never has.
	InContext func(session, sha256 string) bool
	// Mask hides secrets in a text. It may be nil.
	Mask func(string) string
	home string

	mu sync.Mutex // serializes reading folders
}

var _ toolset.Skills = (*Catalog)(nil)

// New returns a Catalog for the items found, or nil if there are none. home is the user's.
func New(items []discovery.Item, home string) *Catalog {
	s := &Catalog{home: home}
	for _, i := range items {
		if off, _ := i.FrontMatter.Bool("disable-model-invocation"); i.Kind == discovery.Skill && i.Problem == "" && i.ShadowedBy == "" && !off {
			s.items = append(s.items, i)
		}
	}
	if len(s.items) == 0 {
		return nil
	}
	slices.SortFunc(s.items, func(a, b discovery.Item) int { return strings.Compare(a.Name, b.Name) })
	defs := make([]tool.Definition, len(s.items))
	for n, i := range s.items {
		defs[n] = tool.Definition{Name: i.Name, Description: i.FrontMatter.Text("description")}
	}
	s.find = rank.New(defs)
	return s
}

// ranked returns the indices of at most limit skills that match a query, best first.
func (s *Catalog) ranked(ctx context.Context, query string, limit int) (out []int) {
	for _, r := range s.find.Pick(query, rank.Options{MaxCandidates: limit, MinScore: -1, AllowUnsafe: true}) {
		if !r.Excluded && (r.Score > 0 || limit == len(s.items)) {
			out = append(out, slices.IndexFunc(s.items, func(i discovery.Item) bool { return i.Name == r.Definition.Name }))
		}
	}
	return out
}

// Find implements the skill tool's search.
func (s *Catalog) Find(ctx context.Context, query string, limit int) (out []toolset.FoundSkill) {
	for _, n := range s.ranked(ctx, query, limit) {
		out = append(out, toolset.FoundSkill{Name: s.items[n].Name, Description: described(s.items[n])})
	}
	return out
}

// Load reads a skill.
func (s *Catalog) Load(ctx context.Context, session, name string) (toolset.Skill, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	item, ok := discovery.Named(s.items, strings.TrimPrefix(name, "/"))
	if !ok {
		next := "give a query to find one"
		if near := tool.Nearest(name, discovery.Names(s.items), 3); len(near) > 0 {
			next = "did you mean " + strings.Join(near, ", ") + "? Or " + next
		}
		return toolset.Skill{}, tool.Fail(tool.CodeNotFound, "there is no skill %q; %s", name, next)
	}
	loaded, err := Read(ctx, item)
	if err != nil {
		return toolset.Skill{}, tool.Fail(tool.CodeIO, "the skill %s cannot be read: %w", item.Name, err)
	}
	loaded.InContext = s.InContext != nil && s.InContext(session, loaded.SHA256)
	if s.Mask != nil {
		loaded.Body = s.Mask(loaded.Body)
	}
	return loaded, nil
}

// Read reads an item's current skill.
func Read(ctx context.Context, item discovery.Item) (toolset.Skill, error) {
	text, err := item.Read(ctx)
	if err != nil {
		return toolset.Skill{}, err
	}
	s := toolset.Skill{Name: item.Name, Source: item.Path, Path: item.File, SHA256: text.Hash, Folder: item.Folder, Body: tool.ShownHidden(text.Body)}
	s.Files, s.MoreFiles = beside(item.Folder)
	return s, nil
}

// beside lists the files in a skill's folder without following links.
func beside(folder string) (files []string, more int) {
	looked := 0
	_ = filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		looked++
		rel, rerr := filepath.Rel(folder, path)
		switch {
		case err != nil || rerr != nil || rel == ".":
			return nil
		case looked > 2000:
			return filepath.SkipAll
		case strings.HasPrefix(d.Name(), ".") || d.IsDir() && strings.Count(rel, "/") >= 4:
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || rel == "SKILL.md":
			return nil
		}
		if len(files) == maxFiles {
			more++
			return nil
		}
		files = append(files, tool.ShownHidden(strings.ReplaceAll(rel, "\n", " ")))
		return nil
	})
	return files, more
}

// Note returns a skill as a note that survives a compaction.
func Note(s toolset.Skill, text string) session.Note {
	return session.Note{Kind: session.SkillNote, Source: s.Source, Path: s.Path, SHA256: s.SHA256, KeepInCompaction: true, Text: text}
}

// CompactionNote returns the note that replaces a skill's outcome in a compaction.
func (*Catalog) CompactionNote(o tool.Outcome) (session.Note, bool) {
	s, ok := toolset.SkillLoaded(o)
	return Note(s, o.Output), ok
}

// Holds reports whether a conversation still has the text with a hash.
func Holds(history []session.Message, sha256 string) bool {
	for _, m := range history {
		for _, n := range m.Notes {
			if n.Kind == session.SkillNote && n.SHA256 == sha256 {
				return true
			}
		}
		for _, p := range m.Parts {
			if p.Outcome == nil {
				continue
			}
			if s, ok := toolset.SkillLoaded(*p.Outcome); ok && s.SHA256 == sha256 {
				return true
			}
		}
	}
	return false
}

// ReadableFolders returns the folders of the user's skills outside a workspace, readable without a
// question.
func (s *Catalog) ReadableFolders(workspace string) (out []string) {
	if s == nil {
		return nil
	}
	for _, i := range s.items {
		if i.Origin == discovery.Person && i.Folder != "" && !within(i.Folder, s.home) && !within(i.Folder, workspace) {
			out = append(out, i.Folder)
		}
	}
	return out
}

// within reports whether path is folder or inside it.
func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, cmp.Or(path, "/"))
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// Limits of the index, in bytes.
const (
	usual = 4000 // about twenty skills
	local = 600  // for a slow model
)

func described(i discovery.Item) string {
	return discovery.Short(tool.ShownHidden(i.FrontMatter.Text("description")))
}

// Index returns the system prompt's list of skills, sorted by name. If it is too long, the skills
// that match asked keep their descriptions, others their names, and the rest is counted.
func (s *Catalog) Index(ctx context.Context, asked string, slow bool) string {
	if s == nil {
		return ""
	}
	room := usual
	if slow {
		room = local
	}
	lines, order := make([]discovery.Line, len(s.items)), make([]int, len(s.items))
	for n, i := range s.items {
		lines[n], order[n] = discovery.Line{Name: i.Name, Description: described(i)}, n
	}
	if strings.TrimSpace(asked) != "" {
		order = s.ranked(ctx, asked, len(s.items))
		for n := range s.items { // skills without a match come last
			if !slices.Contains(order, n) {
				order = append(order, n)
			}
		}
	} else {
		slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(string(s.items[b].Origin), string(s.items[a].Origin)) }) // the project's first
	}
	return strings.TrimSuffix(discovery.Index(prompts.SkillsHead, lines, order, room, "skill{query}"), "\n")
}
