package toolset

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"adze/tool"
)

// Skills loads instructions for kinds of work. Contract: nothing is run; Load reads the current
// text, and its error suggests the next step; Find returns at most limit skills, the best first;
// both are safe for concurrent use.
type Skills interface {
	Load(ctx context.Context, session, name string) (Skill, error)
	Find(ctx context.Context, query string, limit int) []FoundSkill
}

// Skill is a loaded skill.
type Skill struct {
	Name      string
	Source    string // its file, for people
	Path      string // its file, absolute
	SHA256    string // of the file
	Folder    string // folder with its other files, absolute
	Files     []string
	MoreFiles int  // number of unnamed files
	InContext bool // the model has this text already
	Body      string
}

// FoundSkill is a skill found by a query.
type FoundSkill struct{ Name, Description string }

const foundSkills = 8

type skillArgs struct {
	Name  string `json:"name,omitempty" doc:"the skill to load"`
	Query string `json:"query,omitempty" doc:"or: what must be done, to find a skill"`
}

type skillMeta struct {
	Name   string   `json:"name,omitempty"`
	Source string   `json:"from,omitempty"`
	Path   string   `json:"path,omitempty"`
	SHA256 string   `json:"sha256,omitempty"` // of the text in the output
	Query  string   `json:"query,omitempty"`
	Found  []string `json:"found,omitempty"`
}

func skill(s Skills) tool.Tool {
	return tool.Define("skill", tool.Config[skillArgs, skillMeta]{
		Description: describe("skill"),
		Permissions: tool.Requires(tool.Read),
		Unoffered:   s == nil,
		Tags:        []string{"skills", "instructions", "how", "guide"},
		Aliases:     []string{"load_skill", "use_skill", "activate_skill", "skill_load"},
		Compat:      tool.Compat{Args: map[string]string{"skill": "name", "skill_name": "name", "command": "name", "q": "query"}},
		Safety:      tool.Safety{Safe: true},
		Redact:      tool.Expose("name", "from", "path", "sha256", "query", "found"),
		Needs:       func(skillArgs) []tool.Need { return tool.StateNeed("the list of skills") },
		Run: func(ctx context.Context, c tool.Context[skillMeta], in skillArgs) (tool.Result[skillMeta], error) {
			if s == nil {
				return tool.Result[skillMeta]{}, tool.Fail(tool.CodeNotFound, "there are no skills here; do the work without")
			}
			if name := strings.TrimSpace(in.Name); name != "" {
				return loadSkill(ctx, s, c.SessionID, name)
			}
			return findSkills(ctx, s, strings.TrimSpace(in.Query))
		},
		Heading: func(in skillArgs, m skillMeta) tool.Heading {
			return tool.Heading{Verb: "skill", Object: cmp.Or(in.Name, m.Name, in.Query), Shape: tool.OneRow}
		},
		View: func(m skillMeta) []tool.Block { return tool.List(m.Found) },
	})
}

func findSkills(ctx context.Context, s Skills, query string) (tool.Result[skillMeta], error) {
	if query == "" || len(query) > maxToolQuery {
		return tool.Result[skillMeta]{}, tool.Fail(tool.CodeInvalidArguments, "give the name of a skill, or a query of at most %d bytes", maxToolQuery)
	}
	r := tool.Result[skillMeta]{Metadata: skillMeta{Query: query}}
	var b strings.Builder
	for _, f := range s.Find(ctx, query, foundSkills) {
		r.Metadata.Found = append(r.Metadata.Found, f.Name)
		fmt.Fprintf(&b, "%s: %s\n", f.Name, f.Description)
	}
	r.Title = fmt.Sprintf("%d skills for: %s", len(r.Metadata.Found), query)
	if r.Output = strings.TrimSuffix(b.String(), "\n"); r.Output == "" {
		r.Output = "no skill fits; do the work without one"
	}
	return r, ctx.Err()
}

func loadSkill(ctx context.Context, s Skills, session, name string) (tool.Result[skillMeta], error) {
	found, err := s.Load(ctx, session, name)
	r := tool.Result[skillMeta]{Title: name, Metadata: skillMeta{Name: name}}
	if err != nil {
		return r, err
	}
	r.Title, r.Metadata = found.Name, skillMeta{Name: found.Name, Source: found.Source, Path: found.Path}
	if found.InContext {
		r.Output = fmt.Sprintf("skill %s: its text is already above, unchanged; follow it", found.Name)
		return r, nil
	}
	r.Metadata.SHA256 = found.SHA256
	r.Output = found.Text()
	return r, nil
}

// Text returns the skill for the model: the location of its files, then its text.
func (s Skill) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "skill %s, from %s\nfolder: %s\n", s.Name, s.Source, s.Folder)
	if len(s.Files) > 0 {
		b.WriteString("files in it: " + strings.Join(s.Files, ", "))
		if s.MoreFiles > 0 {
			fmt.Fprintf(&b, " and %d more", s.MoreFiles)
		}
		b.WriteByte('\n')
	}
	return b.String() + "\n" + strings.TrimSpace(s.Body)
}

// SkillLoaded returns the skill whose text is in an outcome, if any.
func SkillLoaded(o tool.Outcome) (s Skill, ok bool) {
	var m skillMeta
	if o.Tool != "skill" || o.Status != tool.Completed || json.Unmarshal(o.Metadata, &m) != nil || m.SHA256 == "" {
		return Skill{}, false
	}
	return Skill{Name: m.Name, Source: m.Source, Path: m.Path, SHA256: m.SHA256}, true
}
