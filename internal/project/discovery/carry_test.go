package discovery_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/project/discovery"
	"adze/internal/testkit/posix"
)

// yard is a home, a folder of adze's, and a repository with a folder in it.
type yard struct {
	*testing.T
	at string
	f  *discovery.Finder
}

func newYard(t *testing.T) *yard {
	at, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	y := &yard{T: t, at: at, f: &discovery.Finder{
		AdzeDir: filepath.Join(at, "home/.config/adze"), Home: filepath.Join(at, "home"),
		Dir: filepath.Join(at, "repo/web"), Top: filepath.Join(at, "repo"),
	}}
	for _, dir := range []string{y.f.AdzeDir, y.f.Dir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(y.f.Close)
	return y
}

func (y *yard) write(name, text string) {
	y.Helper()
	file := filepath.Join(y.at, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		y.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		y.Fatal(err)
	}
}

func (y *yard) link(to, name string) {
	y.Helper()
	file := filepath.Join(y.at, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		y.Fatal(err)
	}
	if err := os.Symlink(to, file); err != nil {
		y.Fatal(err)
	}
}

// find looks anew each time: a Finder looks once.
func (y *yard) find(kind discovery.Kind) []discovery.Item {
	f := &discovery.Finder{AdzeDir: y.f.AdzeDir, Home: y.f.Home, Dir: y.f.Dir, Top: y.f.Top}
	y.Cleanup(f.Close)
	return f.Find(y.Context(), kind)
}

// list is what was found, one a line: label, path, and why it cannot be used.
func list(items []discovery.Item) string {
	var b strings.Builder
	for _, i := range items {
		fmt.Fprintf(&b, "%s %s", i.Label(), i.Path)
		if i.Problem != "" {
			fmt.Fprintf(&b, " (%s)", i.Problem)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// The layouts of five assistants are found, each with its origin; the user's names win, then the
// nearest.
func TestFindsWhatAssistantsLeft(t *testing.T) {
	y := newYard(t)
	for _, name := range []string{
		"home/.config/adze/commands/mine.md", "home/.claude/commands/fix.md", "home/.codex/prompts/draft.md", "home/.config/opencode/command/oc.md",
		"repo/.claude/commands/fix.md", "repo/.claude/commands/git/commit.md", "repo/.opencode/command/test.md", "repo/.agents/commands/go.md",
		"repo/web/.adze/commands/go.md", "repo/.cursor/commands/c.md",
	} {
		y.write(name, "---\ndescription: of "+name+"\n---\nDo it.\n")
	}
	y.write("repo/.gemini/commands/a/b.toml", "prompt = \"not read\"\n")
	y.write("repo/other/.claude/commands/not.md", "x")
	y.write("repo/.claude/commands/.hidden.md", "x")
	y.write("repo/.claude/commands/script.sh", "x")
	const want = `mine ~/.config/adze/commands/mine.md
fix ~/.claude/commands/fix.md
oc ~/.config/opencode/command/oc.md
draft ~/.codex/prompts/draft.md
go .adze/commands/go.md
project:go ../.agents/commands/go.md
project:fix ../.claude/commands/fix.md
git:commit ../.claude/commands/git/commit.md
test ../.opencode/command/test.md
c ../.cursor/commands/c.md
`
	items := y.find(discovery.Command)
	if got := list(items); got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
	for name, path := range map[string]string{
		"fix": "~/.claude/commands/fix.md", "project:fix": "../.claude/commands/fix.md", "git/commit": "../.claude/commands/git/commit.md",
		"commit": "../.claude/commands/git/commit.md", "user:mine": "~/.config/adze/commands/mine.md", "go": ".adze/commands/go.md",
	} {
		if i, ok := discovery.Named(items, name); !ok || i.Path != path {
			t.Errorf("%s is %s, want %s", name, i.Path, path)
		}
	}
	for _, name := range []string{"nothing", "project:mine", "x:fix", ""} {
		if i, ok := discovery.Named(items, name); ok {
			t.Errorf("%q is %s", name, i.Path)
		}
	}
}

func TestFindsSkillsAndAgents(t *testing.T) {
	y := newYard(t)
	y.write("home/.agents/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: of the person\n---\n")
	y.write("repo/.claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: of the project\n---\n")
	y.write("repo/.claude/skills/group/deep/SKILL.md", "---\nname: other\ndescription: d\n---\n")
	y.write("repo/.claude/skills/group/deep/examples/in/SKILL.md", "---\nname: inner\ndescription: d\n---\n")
	y.write("repo/.agents/skills/none/SKILL.md", "No front matter.\n")
	y.write("repo/.opencode/skill/one/SKILL.md", "---\nname: one\ndescription: Use when: asked\n---\n")
	y.link("../.agents/skills", "repo/.gemini/skills")
	const skills = `pdf ~/.agents/skills/pdf/SKILL.md
none ../.agents/skills/none/SKILL.md
other ../.claude/skills/group/deep/SKILL.md
project:pdf ../.claude/skills/pdf/SKILL.md
one ../.opencode/skill/one/SKILL.md
`
	if got := list(y.find(discovery.Skill)); got != skills {
		t.Errorf("found\n%s\nwant\n%s", got, skills)
	}
	// claude-code 2.1.332 lists "folder (name)" and takes both, and lists the first line of a text
	// without front matter.
	if i, ok := discovery.Named(y.find(discovery.Skill), "deep"); !ok || i.Name != "other" {
		t.Errorf("the folder of a skill is %q", i.Name)
	}
	if i, _ := discovery.Named(y.find(discovery.Skill), "none"); i.FrontMatter.Text("description") != "No front matter." {
		t.Errorf("without front matter the description is %q", i.FrontMatter.Text("description"))
	}
	y.write("repo/.claude/agents/reviewer.md", "---\nname: code-reviewer\ndescription: d\n---\nYou review.\n")
	y.write("repo/.agents/agents/plain.md", "---\ndescription: d\nmode: subagent\n---\n")
	y.write("repo/.opencode/agents/not.md", "---\ndescription: d\npermission: deny\n---\n")
	const agents = `plain ../.agents/agents/plain.md
code-reviewer ../.claude/agents/reviewer.md
`
	if got := list(y.find(discovery.Agent)); got != agents {
		t.Errorf("found\n%s\nwant\n%s", got, agents)
	}
}

// A project's links do not lead out of it, and what is no sound file is told or left alone; nothing
// waits for a FIFO.
func TestMaliceIsHarmless(t *testing.T) {
	y := newYard(t)
	y.write("home/.ssh/id_rsa", "PRIVATE")
	y.write("home/secret.md", "PRIVATE")
	y.link(filepath.Join(y.at, "home/secret.md"), "repo/.claude/commands/out.md")
	y.link("../../../home/.ssh/id_rsa", "repo/.claude/commands/key.md")
	y.link(filepath.Join(y.at, "home"), "repo/.opencode")
	y.link("../commands", "repo/.claude/commands/circle")
	y.link(filepath.Join(y.at, "home/.ssh/id_rsa"), "home/.claude/commands/mine.md") // not of the same ending
	y.write("home/dotfiles/shared.md", "---\ndescription: kept elsewhere\n---\nx")
	y.link("../../dotfiles/shared.md", "home/.claude/commands/shared.md")
	y.write("repo/.claude/commands/huge.md", strings.Repeat("x", discovery.MaxFile+1))
	y.write("repo/.claude/commands/bomb.md", "---\ndescription: "+strings.Repeat("x", 100_000)+"\n---\n")
	y.write("repo/.claude/commands/a b.md", "x")
	y.write("repo/.claude/commands/a\x1b[31m.md", "x")
	y.write("repo/.claude/commands/a\u202eb.md", "x")
	y.write("repo/.claude/skills/up/SKILL.md", "---\nname: ../../etc\ndescription: d\n---\n")
	y.write("repo/"+"a/"+".claude/commands/below.md", "x")
	if err := posix.Fifo(t, filepath.Join(y.at, "repo/.claude/commands/fifo.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(y.at, "repo/.claude/commands/folder.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	deep := "repo/.claude/commands"
	for range 10 {
		deep += "/d"
		y.write(deep+"/x.md", "x")
	}
	usable := 0
	for _, i := range y.find(discovery.Command) {
		text, err := i.Read(t.Context())
		if strings.Contains(string(text.Raw), "PRIVATE") {
			t.Errorf("%s gives the text of a file outside", i.Path)
		}
		if i.Problem != "" {
			continue
		}
		if usable++; err != nil {
			t.Errorf("%s: %v", i.Path, err)
		}
		if n := strings.Count(i.Name, ":"); n > 5 {
			t.Errorf("%s lies %d deep", i.Path, n)
		}
	}
	if usable != 6 { // shared, and x at five depths
		t.Errorf("%d are usable:\n%s", usable, list(y.find(discovery.Command)))
	}
	if i := y.find(discovery.Skill); len(i) != 1 || i[0].Name != "up" {
		t.Errorf("found %s", list(i))
	}
}

// A file that changed since it was found is read as it is now, and one that was replaced by a link
// out of the project is not.
func TestReadsWhatIsThereNow(t *testing.T) {
	y := newYard(t)
	y.write("repo/.claude/commands/x.md", "one")
	i := y.find(discovery.Command)[0]
	y.write("repo/.claude/commands/x.md", "---\ndescription: d\n---\ntwo")
	if text, err := i.Read(t.Context()); err != nil || text.Body != "two" || len(text.Hash) != 64 {
		t.Errorf("%+v, %v", text, err)
	}
	file := filepath.Join(y.at, "repo/.claude/commands/x.md")
	y.write("secret.md", "PRIVATE")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	y.link("../../../secret.md", "repo/.claude/commands/x.md")
	if text, err := i.Read(t.Context()); err == nil {
		t.Errorf("it reads %q", text.Raw)
	}
}

// A folder without anything costs a few looks at names, and no walk.
func TestFindsNothing(t *testing.T) {
	y := newYard(t)
	for _, kind := range []discovery.Kind{discovery.Command, discovery.Skill, discovery.Agent} {
		if got := y.find(kind); len(got) != 0 {
			t.Errorf("found %s", list(got))
		}
	}
	if got := (&discovery.Finder{}).Find(t.Context(), discovery.Command); len(got) != 0 {
		t.Errorf("found %s", list(got))
	}
}
