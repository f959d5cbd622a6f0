package instructions_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/project/instructions"
	"adze/internal/testkit/posix"
	"adze/session"
	"adze/tool"
)

// world is a user's home with a repository in it, made of files by their names below it.
type world struct {
	t    *testing.T
	base string
}

func newWorld(t *testing.T, files map[string]string) world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := world{t, base}
	w.write("repo/.git/HEAD", "ref: refs/heads/main\n")
	for name, text := range files {
		w.write(name, text)
	}
	return w
}

func (w world) at(name string) string { return filepath.Join(w.base, name) }

func (w world) write(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.at(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.at(name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w world) link(name, to string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.at(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Symlink(to, w.at(name)); err != nil {
		w.t.Fatal(err)
	}
}

// room is a run in a folder of the repository.
func (w world) room(dir string, source ...instructions.Source) *instructions.Reader {
	source = append(source, instructions.Source{})
	r := instructions.New(source[0], instructions.Place{AdzeDir: w.at("own"), Home: w.at("home"), Dir: w.at(dir)})
	w.t.Cleanup(func() { r.Close() })
	return r
}

// names are the files that a prompt holds, in order.
func names(r *instructions.Reader) string {
	var out []string
	for _, f := range r.Files() {
		out = append(out, f.DisplayPath)
	}
	return strings.Join(out, " ")
}

func text(t *testing.T, r *instructions.Reader) string {
	t.Helper()
	text, err := r.Render("coder", time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func wants(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

// Editors of other systems write other encodings; what a user wrote is what the model reads.
func TestInstructionsAreReadInTheirEncoding(t *testing.T) {
	w := newWorld(t, map[string]string{
		"repo/AGENTS.md": "\xff\xfec\x00a\x00f\x00\xe9\x00 \x00o\x00n\x00e\x00", "repo/web/AGENTS.md": "caf\xe9 two @rules.md", "repo/web/rules.md": "\xef\xbb\xbfcafé three",
		"repo/bin/AGENTS.md": "no\x00text", "extra.txt": "caf\xe9 four",
	})
	got := text(t, w.room("repo/web", instructions.Source{Append: w.at("extra.txt")}))
	for _, want := range []string{"café one", "café two", "café three", "café four"} {
		if !strings.Contains(got, want) {
			t.Errorf("the prompt lacks %q", want)
		}
	}
	if strings.Contains(got, "\uFFFD") || strings.ContainsAny(got, "\x00\ufeff") {
		t.Errorf("the prompt has marks, holes or NULs:\n%q", got)
	}
	if got := text(t, w.room("repo/bin")); strings.Contains(got, "no\x00") {
		t.Error("what is no text is read")
	}
}

// Claude Code 2.1.332 sends .claude/CLAUDE.md and CLAUDE.local.md beside a folder's CLAUDE.md.
func TestWhichFilesAreRead(t *testing.T) {
	all := map[string]string{
		"repo/AGENTS.override.md": "override", "repo/AGENTS.md": "agents", "repo/CLAUDE.md": "claude", "repo/.claude/CLAUDE.md": "inner", "repo/GEMINI.md": "gemini",
		"repo/.github/copilot-instructions.md": "copilot", "repo/.cursorrules": "cursor", "repo/.cursor/rules/a.mdc": "---\nalwaysApply: true\n---\nrule",
		"repo/web/CLAUDE.md": "web", "repo/web/CLAUDE.local.md": "my web", "repo/web/.cursorrules": "not the root", "own/AGENTS.md": "mine", "home/.codex/AGENTS.md": "codex",
		"home/.claude/CLAUDE.md": "home claude", "home/.gemini/GEMINI.md": "home gemini",
	}
	without := []string{
		"../AGENTS.override.md", "../AGENTS.md", "../CLAUDE.md ../.claude/CLAUDE.md ../.cursor/rules/a.mdc", "../.claude/CLAUDE.md ../.cursor/rules/a.mdc", "../GEMINI.md ../.cursor/rules/a.mdc",
		"../.github/copilot-instructions.md ../.cursor/rules/a.mdc", "../.cursorrules ../.cursor/rules/a.mdc", "../.cursor/rules/a.mdc",
	}
	gone := []string{"AGENTS.override.md", "AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md", ".cursorrules", ".cursor/rules/a.mdc"}
	mine := []string{"your AGENTS.md", "~/.codex/AGENTS.md", "~/.claude/CLAUDE.md", "~/.gemini/GEMINI.md", ""}
	w := newWorld(t, all)
	for i, want := range without {
		wants(t, "files", names(w.room("repo/web")), mine[0]+" "+want+" CLAUDE.md CLAUDE.local.md")
		if err := os.Remove(w.at("repo/" + gone[i])); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{"own/AGENTS.md", "home/.codex/AGENTS.md", "home/.claude/CLAUDE.md", "home/.gemini/GEMINI.md"} {
		wants(t, "files", names(w.room("repo")), mine[i])
		if err := os.Remove(w.at(name)); err != nil {
			t.Fatal(err)
		}
	}
	wants(t, "files", names(w.room("repo")), "")
	wants(t, "bare", names(w.room("repo/web", instructions.Source{Bare: true})), "")
}

func TestWhatIsReadInThePlaceOfAgentsIsSaid(t *testing.T) {
	w := newWorld(t, map[string]string{"repo/CLAUDE.md": "c", "repo/web/AGENTS.md": "a", "home/.claude/CLAUDE.md": "m"})
	wants(t, "notices", strings.Join(w.room("repo/web").Notices(), "\n"), "read in the place of AGENTS.md: ~/.claude/CLAUDE.md, ../CLAUDE.md")
	w = newWorld(t, map[string]string{"repo/AGENTS.md": "a", "own/AGENTS.md": "m"})
	wants(t, "notices", strings.Join(w.room("repo").Notices(), "\n"), "")
}

// Shims of two assistants in one repository are one text.
func TestAFileAndABytesAreReadOnce(t *testing.T) {
	w := newWorld(t, map[string]string{"repo/AGENTS.md": "the rules", "repo/web/AGENTS.md": "the rules", "repo/web/ui/CLAUDE.md": "@../../AGENTS.md", "home/.claude/CLAUDE.md": " \n"})
	w.link("repo/CLAUDE.md", "AGENTS.md")
	w.link("repo/GEMINI.md", "AGENTS.md")
	r := w.room("repo/web/ui")
	wants(t, "files", names(r), "../../AGENTS.md CLAUDE.md")
	if got := strings.Count(text(t, r), "the rules"); got != 1 {
		t.Errorf("the rules stand %d times in the prompt", got)
	}
}

func TestNoLinkAndNoImportLeadsOut(t *testing.T) {
	w := newWorld(t, map[string]string{
		"secret.md": "the key", "repo/.env": "TOKEN=the key", "repo/.git/config": "the key", "home/notes.md": "my notes", "home/.ssh/id_rsa": "the key",
		"repo/CLAUDE.md":      "@../secret.md @./.env @.git/config @~/notes.md @" + "/etc/passwd" + " @linked.md and @types/node, a@b.c",
		"own/AGENTS.md":       "See @~/notes.md, and @~/.ssh/id_rsa",
		"repo/web/AGENTS.md":  "web",
		"repo/types/node/x.d": "x",
	})
	w.link("repo/linked.md", "../secret.md")
	w.link("repo/AGENTS.md", "../secret.md")
	w.link("repo/AGENTS.override.md", ".env")
	w.link("repo/.claude", "..")
	r := w.room("repo/web")
	got := text(t, r)
	if notices := strings.Join(r.Notices(), "\n"); !strings.Contains(notices, "../AGENTS.md is not read, and the model does not see it: it leads out of the repository") {
		t.Errorf("notices:\n%s", notices)
	}
	if strings.Contains(got, "the key") || strings.Contains(got, "root:") {
		t.Errorf("the prompt holds what it must not: %s", got)
	}
	for _, want := range []string{"@types/node, a@b.c", "## ../../home/notes.md, imported above\nmy notes", "@./.env"} {
		if !strings.Contains(got, want) {
			t.Errorf("the prompt has no %q", want)
		}
	}
}

func TestImports(t *testing.T) {
	w := newWorld(t, map[string]string{
		"repo/CLAUDE.md":    "First @docs/a.md.\n<!-- @docs/hidden.md -->\n`@docs/code.md`\n```\n@docs/code.md <!-- stays -->\n```\n<!--\ngone\n--> @docs/a.md\nlast <!-- no end",
		"repo/docs/a.md":    "A @b.md (see @../CLAUDE.md)",
		"repo/docs/b.md":    "B @a.md @c.md",
		"repo/docs/c.md":    "C @d.md",
		"repo/docs/d.md":    "D @e.md",
		"repo/docs/e.md":    "too deep",
		"repo/docs/f":       "f",
		"repo/docs/code.md": "never", "repo/docs/hidden.md": "never",
	})
	f := w.room("repo").Files()
	if len(f) != 1 {
		t.Fatalf("files %+v", f)
	}
	wants(t, "text", f[0].Text, "First @docs/a.md.\n`@docs/code.md`\n```\n@docs/code.md <!-- stays -->\n```\n @docs/a.md\nlast <!-- no end\n\n"+
		"## docs/a.md, imported above\nA @b.md (see @../CLAUDE.md)\n\n## docs/b.md, imported above\nB @a.md @c.md\n\n## docs/c.md, imported above\nC @d.md\n\n## docs/d.md, imported above\nD @e.md")
}

// What is no text, cannot be read, or is not a regular file is said or left alone; nothing waits for
// it.
func TestFilesThatCannotBeRead(t *testing.T) {
	w := newWorld(t, map[string]string{"repo/AGENTS.md": "\x00\x01binary", "repo/CLAUDE.md": "closed", "repo/a/AGENTS.md": "\xef\xbb\xbfcaf\xe9\r\nline\r\n", "repo/a/b/CLAUDE.md": "@pipe.md @folder"})
	if err := os.Chmod(w.at("repo/CLAUDE.md"), 0); err != nil {
		t.Fatal(err)
	}
	for _, pipe := range []string{"repo/GEMINI.md", "repo/a/b/pipe.md", "repo/.cursorrules"} {
		if err := posix.Fifo(t, w.at(pipe)); err != nil {
			t.Skip("no FIFO can be made here: ", err)
		}
	}
	w.link("repo/a/b/AGENTS.md", "/dev/zero")
	if err := os.MkdirAll(w.at("repo/a/b/folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(w.at("repo/.github/copilot-instructions.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := w.room("repo/a/b")
	notices := strings.Join(r.Notices(), "\n")
	if !strings.Contains(notices, "../../AGENTS.md is not read, and the model does not see it: it is not text") {
		t.Errorf("notices:\n%s", notices)
	}
	if os.Getuid() != 0 && !strings.Contains(notices, "CLAUDE.md is not read") {
		t.Errorf("nothing says that a file is closed:\n%s", notices)
	}
	if got := text(t, r); !strings.Contains(got, "caf\uFFFD\nline\n") || strings.Contains(got, "binary") {
		t.Errorf("the prompt is %s", got)
	}
}

func TestLargeFilesAreCutAndItIsSaid(t *testing.T) {
	line := "keep this rule in mind, é\n"
	w := newWorld(t, map[string]string{"repo/AGENTS.md": strings.Repeat("root "+line, 60_000), "repo/a/AGENTS.md": strings.Repeat("a "+line, 1500), "repo/a/b/AGENTS.md": "near"})
	r := w.room("repo/a/b")
	var size int
	for _, f := range r.Files() {
		size += len(f.Text)
		if len(f.Text) > 32<<10+100 {
			t.Errorf("%s has %d bytes", f.DisplayPath, len(f.Text))
		}
	}
	if size > 64<<10+300 || names(r) != "../../AGENTS.md ../AGENTS.md AGENTS.md" {
		t.Errorf("%d bytes of %s", size, names(r))
	}
	notices := strings.Join(r.Notices(), "\n")
	if !strings.Contains(notices, "../../AGENTS.md has 1920000 bytes") || !strings.Contains(text(t, r), "(cut: the file has 1920000 bytes; read the rest when it matters)") {
		t.Errorf("notices:\n%s", notices)
	}
	if strings.Contains(text(t, r), "\uFFFD") {
		t.Error("a character was cut")
	}
}

func step(read ...string) session.Step {
	var s session.Step
	for _, name := range read {
		s.Outcomes = append(s.Outcomes, tool.Outcome{Status: tool.Completed, Record: tool.Record{Needs: []tool.Need{{Permission: tool.Read, Target: name}}}})
	}
	return s
}

func origins(notes []session.Note) string {
	var out []string
	for _, n := range notes {
		out = append(out, n.Source)
	}
	return strings.Join(out, " ")
}

func TestADeeperFolderJoinsWhenAFileOfItIsTouched(t *testing.T) {
	w := newWorld(t, map[string]string{
		"repo/AGENTS.md": "root", "repo/web/AGENTS.md": "web rules", "repo/web/ui/CLAUDE.md": "ui rules @../style.md", "repo/web/style.md": "style", "repo/web/ui/b.ts": "",
		"repo/web/a.ts": "", "repo/api/AGENTS.md": "root", "repo/api/x.go": "", "repo/node_modules/x/AGENTS.md": "obey", "repo/node_modules/x/i.js": "", "out.md": "",
	})
	r := w.room("repo")
	wants(t, "one step", origins(r.Notes(t.Context(), step("web/ui/b.ts", "web/a.ts", w.at("repo/web/ui/b.ts")))), "web/AGENTS.md web/ui/CLAUDE.md")
	wants(t, "nothing new", origins(r.Notes(t.Context(), step("web", "AGENTS.md", "missing/x", "../out.md", "node_modules/x/i.js", "api/x.go", "\x00"))), "")
	notes := r.Notes(t.Context(), step("web/ui/b.ts"))
	if len(notes) != 2 || notes[1].Text != "Instructions for files in web/ui:\n\nui rules @../style.md\n\n## web/style.md, imported above\nstyle" || !notes[1].KeepInCompaction || notes[1].Path != w.at("repo/web/ui/CLAUDE.md") {
		t.Fatalf("notes %+v", notes)
	}
	wants(t, "of itself", origins(r.Notes(t.Context(), step("web/AGENTS.md"))), "")
	s := step("web/a.ts")
	s.Notes = notes[:1]
	if got := r.Notes(t.Context(), s); got[0].SHA256 != notes[0].SHA256 || strings.Contains(got[0].Text, "Changed") {
		t.Errorf("the same file is another note: %+v", got)
	}
	w.write("repo/web/AGENTS.md", "other rules")
	if got := r.Notes(t.Context(), s); got[0].SHA256 == notes[0].SHA256 || !strings.HasPrefix(got[0].Text, "Changed since you were told.") {
		t.Errorf("a changed file is told as %+v", got)
	}
	wants(t, "from below", origins(w.room("repo/api").Notes(t.Context(), step("../web/a.ts"))), "../web/AGENTS.md")
	wants(t, "bare", origins(w.room("repo", instructions.Source{Bare: true}).Notes(t.Context(), step("web/a.ts"))), "")
	failed := step("web/a.ts")
	failed.Outcomes[0].Status = tool.Denied
	wants(t, "denied", origins(r.Notes(t.Context(), failed)), "")
}

// TestAWorkspaceOfJJIsAProjectOfItsOwn: jj takes the closest .jj for its root, also inside another
// repository.
func TestAWorkspaceOfJJIsAProjectOfItsOwn(t *testing.T) {
	w := newWorld(t, map[string]string{"repo/AGENTS.md": "outer", "repo/ws/.jj/repo": "", "repo/ws/AGENTS.md": "inner", "repo/ws/a/AGENTS.md": "a"})
	r := w.room("repo/ws/a")
	wants(t, "files", names(r), "../AGENTS.md AGENTS.md")
	if r.Repository() {
		t.Error("it is a git repository")
	}
}

// TestRulesOfOthers: Copilot CLI 1.0.102 sends a file of instructions without applyTo, described or
// not, with each request.
func TestRulesOfOthers(t *testing.T) {
	w := newWorld(t, map[string]string{
		"repo/.cursor/rules/always.mdc":                "---\ndescription: ours\nglobs:\nalwaysApply: true\n---\nalways this\n",
		"repo/.cursor/rules/deep/ts.mdc":               "---\nglobs: *.ts, *.tsx\nalwaysApply: false\n---\nts rule\n",
		"repo/.cursor/rules/db.mdc":                    "---\ndescription: How: migrations are written\nalwaysApply: false\n---\ndb rule\n",
		"repo/.cursor/rules/asked.mdc":                 "---\nalwaysApply: false\n---\nasked rule\n",
		"repo/.cursor/rules/README.md":                 "no rule",
		"repo/.claude/rules/all.md":                    "claude always",
		"repo/.claude/rules/api.md":                    "---\npaths:\n  - \"src/api/**/*.go\"\n---\napi rule\n",
		"repo/.github/instructions/x.instructions.md":  "---\napplyTo: \"**\"\n---\ncopilot always\n",
		"repo/.github/instructions/py.instructions.md": "---\napplyTo: '**/*.py,**/*.pyi'\n---\npy rule\n",
		"repo/.github/instructions/y.instructions.md":  "---\ndescription: how it is deployed\n---\ncopilot without applyTo\n",
		"repo/src/api/v1/a.go":                         "", "repo/web/a.tsx": "", "repo/x.py": "", "repo/b.go": "",
	})
	r := w.room("repo")
	wants(t, "files", names(r), ".cursor/rules/always.mdc .claude/rules/all.md .github/instructions/x.instructions.md .github/instructions/y.instructions.md rules that you read when their subject comes up")
	if got := text(t, r); !strings.Contains(got, "\n- .cursor/rules/db.mdc: How: migrations are written\n") || strings.Contains(got, "alwaysApply") {
		t.Errorf("the prompt is %s", got)
	}
	wants(t, "ts", origins(r.Notes(t.Context(), step("web/a.tsx"))), ".cursor/rules/deep/ts.mdc")
	wants(t, "api", origins(r.Notes(t.Context(), step("src/api/v1/a.go", "x.py"))), ".claude/rules/api.md .github/instructions/py.instructions.md")
	wants(t, "none", origins(r.Notes(t.Context(), step("b.go"))), "")
	notes := r.Notes(t.Context(), session.Step{Prompt: &session.Input{Text: "do as @asked, not @asked-for"}})
	if len(notes) != 1 || notes[0].Text != "Rules that were asked for:\n\nasked rule" {
		t.Errorf("notes %+v", notes)
	}
	wants(t, "not called", origins(r.Notes(t.Context(), session.Step{Prompt: &session.Input{Text: "x@asked @askedfor @asked/x"}})), "")
	w.write("repo/AGENTS.md", "ours")
	r = w.room("repo")
	wants(t, "beside AGENTS.md", names(r)+origins(r.Notes(t.Context(), step("web/a.tsx"))), "AGENTS.md")
}

// TestRulesOfTheUser: claude-code 2.1.332 sends those of its user's folder in each project, the
// ones with paths when such a file of the project was read.
func TestRulesOfTheUser(t *testing.T) {
	w := newWorld(t, map[string]string{
		"home/.claude/CLAUDE.md": "mine", "home/.claude/rules/deep/a.md": "always mine",
		"home/.claude/rules/go.md": "---\npaths: \"src/**/*.go\"\n---\nmine for go\n", "repo/src/x/a.go": "", "repo/.claude/rules/p.md": "ours",
	})
	r := w.room("repo")
	wants(t, "files", names(r), "~/.claude/CLAUDE.md ~/.claude/rules/deep/a.md .claude/rules/p.md")
	notes := r.Notes(t.Context(), step("src/x/a.go"))
	if len(notes) != 1 || notes[0].Source != "~/.claude/rules/go.md" || notes[0].Text != "Rules for files such as src/**/*.go:\n\nmine for go" {
		t.Errorf("notes %+v", notes)
	}
	for _, l := range r.Listed() {
		if l.Mine != strings.HasPrefix(l.DisplayPath, "~/") {
			t.Errorf("%+v", l)
		}
	}
	w.write("home/.codex/AGENTS.md", "mine for all")
	r = w.room("repo")
	wants(t, "beside an AGENTS.md", names(r)+origins(r.Notes(t.Context(), step("src/x/a.go"))), "~/.codex/AGENTS.md .claude/rules/p.md")
	if l := r.Listed(); !slices.ContainsFunc(l, func(l instructions.Listed) bool {
		return l.DisplayPath == "~/.claude/rules/go.md" && l.Mine && l.State == instructions.Left
	}) {
		t.Errorf("%+v", l)
	}
}

func TestAHundredRules(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("repo/.cursor/rules/%03d.mdc", i)] = fmt.Sprintf("---\ndescription: %s %d\n---\nrule", strings.Repeat("about a subject ", 20), i)
	}
	w := newWorld(t, files)
	r := w.room("repo")
	size := 0
	for _, f := range r.Files() {
		size += len(f.Text)
	}
	if size > 4200 || !strings.Contains(text(t, r), "more)") || !slices.ContainsFunc(r.Notices(), func(n string) bool { return strings.Contains(n, "more than 200 rules") }) {
		t.Errorf("%d bytes; notices %q", size, r.Notices())
	}
}
