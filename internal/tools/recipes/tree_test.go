package recipes

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// questions are what a reader of the code asks. Words stand in the line of the tree in
// CONTRIBUTING.md that answers, and in no other; the folder of that line holds the declaration.
func questions() []struct{ question, words, folder, declared string } {
	return []struct{ question, words, folder, declared string }{
		{"Where is a command denied?", "rules", "internal/policy", "policy.Policy.Decide"},
		{"Where is a bash command line read?", "the reading of bash", "internal/policy", "script.Read"},
		{"Where does the whole of a job's output go?", "long outputs", "internal/sessiondb", "outputs.Files.Open"},
		{"Which walls does a command get?", "walls", "internal/sandbox", "sandbox.Cage.Enclose"},
		{"How are a command's processes ended?", "supervises processes", "internal/sandbox", "proc.Supervisor"},
		{"Where are malformed arguments repaired?", "repaired", "tool", "tool.Hydration.repair"},
		{"Where is a call run?", "the one way to run it", "tool", "tool.Runner.Exec"},
		{"Where is the bash tool?", "built-in tools", "toolset", "toolset.bash"},
		{"When is a conversation summed up?", "summary", "session", "session.Session.compact"},
		{"What ends a model that repeats itself?", "loop", "session", "loop.Guard"},
		{"Where are the texts of the system prompt?", "texts every model reads", "prompts", "prompts.Compact"},
		{"Where is the text of a help topic?", "documents for users", "docs", "docs.Topics"},
		{"Where is the prompt line of the screen?", "panes, prompt", "tui", "tui.UI.Run"},
		{"Where is a run put together?", "builds a run", "internal/run", "conversation.Build"},
		{"Where is the flag --allow declared?", "flags", "internal/run", "flags.Run.Add"},
		{"Where is adze doctor?", "doctor", "internal/cmd", "doctor.Check"},
		{"Where are JSON lines printed?", "lines of stream-json", "internal/stream", "stream.Printer"},
		{"Which vendors are known?", "vendors", "internal/llm", "models.Vendor"},
		{"Where are calls found that a model wrote as text?", "written as text", "internal/llm", "textparse.Recover"},
		{"Where is AGENTS.md read?", "instructions", "internal/project", "instructions.Reader"},
		{"Where are hooks run?", "hooks", "internal/project", "hooks.Engine.Fire"},
		{"Where is a session stored?", "SQLite", "internal/sessiondb", "sessiondb.Store.Append"},
		{"Where is an answer compared with what calls did?", "claims", "internal/sessiondb", "claims.NewCheck"},
		{"Where is an undo done?", "restore", "internal/undo", "undo.Workspace.Apply"},
		{"Where does grep search?", "grep", "internal/files", "search.Tree.Grep"},
		{"Where is a web page made text?", "pages to text", "internal/web", "web.Fetcher.Fetch"},
		{"Where does a user log in to an MCP server?", "OAuth", "internal/mcp", "oauth.Manager.Login"},
		{"Where is a language server started?", "language servers", "internal/editors", "lsp.Servers"},
		{"Where is a batch of runs queued?", "queue", "internal/fleet", "fleet.Server.Submit"},
		{"Where are API keys kept?", "key ring", "internal/config", "keyring.Store"},
		{"Where are traces made?", "traces", "internal/telemetry", "telemetry.Watch"},
		{"Where are secrets recognised in a text?", "redaction", "internal/text", "redact.In"},
		{"Where is the fake of a model's server?", "fakes", "internal/testkit", "llmtest.OllamaServer"},
		{"Which package may import which?", "archtest", "internal/tools", "archtest.Table"},
	}
}

// TestTheTreeLeadsToTheAnswer asks the tree of CONTRIBUTING.md each question.
func TestTheTreeLeadsToTheAnswer(t *testing.T) {
	tree, declared := treeOf(t), map[string]map[string]bool{}
	for _, q := range questions() {
		var found []string
		for folder, text := range tree {
			if strings.Contains(text, q.words) {
				found = append(found, folder)
			}
		}
		if len(found) != 1 || found[0] != q.folder {
			t.Errorf("%s %q leads to %v, want %s", q.question, q.words, found, q.folder)
		}
		if declared[q.folder] == nil {
			declared[q.folder] = declarations(t, filepath.Join("..", "..", "..", q.folder))
		}
		if !declared[q.folder][q.declared] {
			t.Errorf("%s %s declares no %s", q.question, q.folder, q.declared)
		}
	}
	for folder := range tree {
		if info, err := os.Stat(filepath.Join("..", "..", "..", folder)); err != nil || !info.IsDir() {
			t.Errorf("the tree names %s, which is no folder", folder)
		}
	}
}

// TestTheTreeIsWhole compares the tree with the folders that there are.
func TestTheTreeIsWhole(t *testing.T) {
	tree := treeOf(t)
	for _, dir := range []string{"", "internal/"} {
		entries, err := os.ReadDir(filepath.Join("..", "..", "..", dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if _, ok := tree[dir+e.Name()]; e.IsDir() && !ok && !strings.HasPrefix(e.Name(), ".") {
				t.Errorf("the tree does not name %s%s", dir, e.Name())
			}
		}
	}
}

// treeOf reads the tree of CONTRIBUTING.md: what stands beside each folder.
func treeOf(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile("../../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(raw), "\n## The tree\n")
	if !ok {
		t.Fatal("there is no tree")
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	out, last := map[string]string{}, ""
	entry := regexp.MustCompile(`^    (  )?([a-z]+)/ *(.*)$`)
	for line := range strings.SplitSeq(rest, "\n") {
		m := entry.FindStringSubmatch(line)
		switch {
		case m != nil:
			last = m[2]
			if m[1] != "" {
				last = "internal/" + m[2]
			}
			out[last] = m[3]
		case strings.HasPrefix(line, "          "):
			out[last] += " " + strings.TrimSpace(line)
		}
	}
	return out
}

// declarations are the functions, methods and types below a folder, with the name of their package
// ("script.Read", "policy.Policy.Decide"). Those of tests are no answer.
func declarations(t *testing.T, dir string) map[string]bool {
	t.Helper()
	out, set := map[string]bool{}, token.NewFileSet()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				out[file.Name.Name+"."+receiver(d)+d.Name.Name] = true
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						out[file.Name.Name+"."+s.Name.Name] = true
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// receiver is the type of a method and a point; empty for a function.
func receiver(f *ast.FuncDecl) (name string) {
	if f.Recv == nil {
		return ""
	}
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name + "."
		}
		return name == ""
	})
	return name
}

// TestThePageNamesWhatThereIs looks for each path that stands in CONTRIBUTING.md, whole or as it is
// below internal.
func TestThePageNamesWhatThereIs(t *testing.T) {
	raw, err := os.ReadFile("../../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, m := range regexp.MustCompile("`([a-z.]+(?:/[a-z_.]+)+)/?`").FindAllStringSubmatch(string(raw), -1) {
		path := m[1]
		if strings.HasSuffix(filepath.Dir(path), "/x") || strings.HasPrefix(filepath.Base(path), "x.") || filepath.Base(path) == "x" {
			continue // the name that an author chooses
		}
		found++
		top := filepath.Join("..", "..", "..")
		_, whole := os.Stat(filepath.Join(top, path))
		_, below := os.Stat(filepath.Join(top, "internal", path))
		if whole != nil && below != nil {
			t.Errorf("the page names %s, which is not there", path)
		}
	}
	if found < 40 {
		t.Errorf("only %d paths were found", found)
	}
}
