package toolset

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"adze/tool"
)

// caseSkills has one skill, which session "again" has been told already.
type caseSkills struct{}

func (caseSkills) Load(_ context.Context, session, name string) (Skill, error) {
	if name != "pdf" {
		return Skill{}, tool.Fail(tool.CodeNotFound, "there is no skill %q", name)
	}
	return Skill{Name: "pdf", Source: "~/pdf/SKILL.md", Path: "/h/pdf/SKILL.md", SHA256: "ab", Folder: "/h/pdf", Files: []string{"fill.py"}, MoreFiles: 2,
		InContext: session == "again", Body: "\nUse fill.py.\n"}, nil
}

func (caseSkills) Find(_ context.Context, query string, _ int) []FoundSkill {
	if query == "nothing" {
		return nil
	}
	return []FoundSkill{{"pdf", "Fill forms."}}
}

func TestASkillsText(t *testing.T) {
	for _, c := range []struct{ session, name, want string }{
		{"s", "pdf", "skill pdf, from ~/pdf/SKILL.md\nfolder: /h/pdf\nfiles in it: fill.py and 2 more\n\nUse fill.py."},
		{"again", "pdf", "skill pdf: its text is already above, unchanged; follow it"},
	} {
		r, err := loadSkill(t.Context(), caseSkills{}, c.session, c.name)
		if err != nil || r.Output != c.want {
			t.Errorf("%s: %q, %v", c.session, r.Output, err)
		}
		meta, err := json.Marshal(r.Metadata)
		if err != nil {
			t.Fatal(err)
		}
		got, holds := SkillLoaded(tool.Outcome{Tool: "skill", Status: tool.Completed, Metadata: meta})
		if holds != (c.session == "s") || holds && (got.Path != "/h/pdf/SKILL.md" || got.SHA256 != "ab") {
			t.Errorf("%s: holds %v, %+v", c.session, holds, got)
		}
	}
	if _, err := loadSkill(t.Context(), caseSkills{}, "s", "other"); err == nil {
		t.Error("a skill that is not there was loaded")
	}
}

func TestSkillsAreFound(t *testing.T) {
	for query, want := range map[string]string{"forms": "pdf: Fill forms.", "nothing": "no skill fits; do the work without one"} {
		if r, err := findSkills(t.Context(), caseSkills{}, query); err != nil || r.Output != want {
			t.Errorf("%s: %q, %v", query, r.Output, err)
		}
	}
	for _, query := range []string{"", strings.Repeat("x", 2000)} {
		if _, err := findSkills(t.Context(), caseSkills{}, query); err == nil {
			t.Errorf("a query of %d bytes was taken", len(query))
		}
	}
}
