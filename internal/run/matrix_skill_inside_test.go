package run

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/project/discovery"
	"adze/internal/project/skills"
	"adze/tool"
)

// fromSkill is where the matrix has the calls that go to the folder of a skill; the pipeline knows
// them as the model's.
const fromSkill tool.Origin = "skill"

// lender is a user with one skill, "there", whose folder is lent to models.
type lender struct {
	shelf  *skills.Catalog
	folder string // of the skill
}

func newLender(t *testing.T, workspace string) *lender {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &lender{folder: filepath.Join(home, ".claude/skills/there")}
	for name, text := range map[string]string{
		"SKILL.md": "---\nname: there\ndescription: d\n---\nRun scripts/fill.sh.\n", "scripts/fill.sh": "touch made-by-skill\n", ".env": "KEY=1\n", "../other/notes.txt": "private\n",
	} {
		file := filepath.Join(l.folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folders := discovery.For(filepath.Join(home, ".config/adze"), home, workspace)
	t.Cleanup(folders.Close)
	if l.shelf = skills.New(folders.Find(t.Context(), discovery.Skill), home); l.shelf == nil || len(l.shelf.ReadableFolders(workspace)) != 1 {
		t.Fatal("the skill is not found, or not lent")
	}
	return l
}

// beside is the place of a target in the folder of the skill or beside it; if empty, it is
// elsewhere.
func (l *lender) beside(target string) string {
	at := strings.Index(target, filepath.Dir(l.folder))
	if at < 0 {
		return ""
	}
	rel, err := filepath.Rel(l.folder, strings.TrimRight(target[at:], "'\" /"))
	if err != nil {
		return ""
	}
	return rel
}

func (l *lender) touched(q tool.Question) string {
	for _, n := range q.Needs {
		if at := l.beside(n.Target); at != "" {
			return at
		}
	}
	return ""
}

// lent says once more than in the policy what may be read without a question.
func lent(at string) bool { return at != ".env" && !strings.HasPrefix(at, "..") }

// led are the calls that a model makes when it has read the skill.
func (m *matrix) led(depth int) (steps string, cells []string) {
	m.t.Helper()
	for _, c := range []struct{ tool, at, key, value string }{
		{"read", "scripts/fill.sh", "path", ""},
		{"read", ".env", "path", ""},
		{"read", "../other/notes.txt", "path", ""},
		{"list", "scripts", "path", ""},
		{"grep", "scripts", "path", ""},
		{"glob", "scripts", "path", ""},
		{"write", "scripts/fill.sh", "path", ""},
		{"write", "new.txt", "path", ""},
		{"edit", "SKILL.md", "path", ""},
		{"bash", "scripts/fill.sh", "command", "sh "},
	} {
		d, ok := m.set.Get(c.tool)
		if !ok {
			m.t.Fatalf("there is no tool %s", c.tool)
		}
		var args map[string]any
		if err := json.Unmarshal([]byte(m.valid(d)), &args); err != nil {
			m.t.Fatal(err)
		}
		args[c.key] = c.value + filepath.Join(m.folder, c.at)
		raw, err := json.Marshal(args)
		if err != nil {
			m.t.Fatal(err)
		}
		steps += "call " + c.tool + ": " + string(raw) + "\n"
		cells = append(cells, cell(depth, fromSkill, c.tool+" "+c.at))
	}
	return steps, cells
}

// endOf is how a call of the matrix must end: a skill is loaded in every mode, and of the rest
// nothing runs.
func endOf(name string) tool.Status {
	if name == "skill" {
		return tool.Completed
	}
	return tool.Denied
}
