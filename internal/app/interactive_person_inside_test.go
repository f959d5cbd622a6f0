package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/tool"
)

func TestMemoryKeepsTheNewestOfEach(t *testing.T) {
	m := newMemory(t.TempDir(), "/home/ann/calc")
	if got := m.past(); got != nil {
		t.Errorf("a new memory holds %q", got)
	}
	for _, text := range []string{"one", "two\nlines", "one", "three"} {
		m.add(text)
	}
	if got := m.past(); !slices.Equal(got, []string{"two\nlines", "one", "three"}) {
		t.Errorf("it holds %q", got)
	}
	if other := newMemory(filepath.Dir(filepath.Dir(m.path)), "/home/ann/other"); other.past() != nil {
		t.Error("two workspaces share a memory")
	}
	info, err := os.Stat(m.path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	m := newMemory(t.TempDir(), "/w")
	for i := range 300 {
		m.add(strings.Repeat(string(rune('a'+i%26)), 4000+i))
	}
	info, err := os.Stat(m.path)
	if err != nil || info.Size() > maxMemoryBytes+5000 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	if past := m.past(); len(past[len(past)-1]) != 4299 {
		t.Error("the newest text is not there")
	}
}

func TestDroppedFiles(t *testing.T) {
	dir := t.TempDir()
	picture := filepath.Join(t.TempDir(), "a shot's.png")
	text := filepath.Join(dir, "a file.go")
	for path, content := range map[string]string{picture: "\x89PNG\r\n\x1a\n", text: "package a\n"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	drop := dropIn(dir)
	escaped := strings.NewReplacer(" ", `\ `, "'", `\'`).Replace(picture)
	for _, pasted := range []string{escaped, `"` + picture + `"`, "file://" + strings.ReplaceAll(picture, " ", "%20"), "file://localhost" + strings.ReplaceAll(picture, " ", "%20") + "\n"} {
		if d, ok := drop(pasted); !ok || d.Attach != picture {
			t.Errorf("%s: %+v %v", pasted, d, ok)
		}
	}
	if d, ok := drop("'" + text + "'"); !ok || d.Path != "a file.go" || d.Attach != "" {
		t.Errorf("a text file: %+v %v", d, ok)
	}
	for _, pasted := range []string{"see /etc/passwd", "/no/such/file", "a file.go", "file://%zz", "'/etc"} {
		if d, ok := drop(pasted); ok {
			t.Errorf("%q is taken for %+v", pasted, d)
		}
	}
}

// TestOnlyTheOwnCommandIsNotAsked: what the person typed is theirs; nothing else passes under its name.
func TestOnlyTheOwnCommandIsNotAsked(t *testing.T) {
	question := func(name, agent string, needs ...tool.Need) tool.Question {
		return tool.Question{Tool: tool.Definition{Name: name}, Agent: agent, Needs: needs}
	}
	runs := tool.Need{Permission: tool.Execute, Target: "make"}
	var own ownCommand
	if own.is(question(shellTool, "", runs)) {
		t.Error("nothing is being run")
	}
	own.set("make")
	if !own.is(question(shellTool, "", runs)) {
		t.Error("the command is not recognised")
	}
	for name, q := range map[string]tool.Question{
		"another tool": question("task", "", runs), "a subagent": question(shellTool, "helper", runs),
		"more than it":    question(shellTool, "", runs, tool.Need{Permission: tool.Write, Target: "x"}),
		"another command": question(shellTool, "", tool.Need{Permission: tool.Execute, Target: "make install"}),
		"another access":  question(shellTool, "", tool.Need{Permission: tool.Write, Target: "make"}),
		"nothing":         question(shellTool, ""),
	} {
		if own.is(q) {
			t.Errorf("%s passes as the person's own command", name)
		}
	}
}
