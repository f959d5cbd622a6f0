package instructions_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// edited is a file after the call that adds a line to it.
func edited(t *testing.T, text, name, arguments string) string {
	t.Helper()
	var args struct{ Path, Content, Old, New string }
	raw := strings.NewReplacer(`"old_string"`, `"Old"`, `"new_string"`, `"New"`).Replace(arguments)
	if err := json.Unmarshal([]byte(raw), &args); err != nil {
		t.Fatal(err)
	}
	if name == "write" {
		return args.Content
	}
	if strings.Index(text, args.Old) != strings.LastIndex(text, args.Old) {
		t.Fatalf("%q stands %d times in the file", args.Old, strings.Count(text, args.Old))
	}
	return strings.Replace(text, args.Old, args.New, 1)
}

func TestALineIsAdded(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"\n", "# Instructions\n\n- be brief\n"},
		{"# Rules\n\nRun make.\n", "# Rules\n\nRun make.\n\n- be brief\n"},
		{"- a\n- a\n- a\n", "- a\n- a\n- a\n- be brief\n"},
		{"* a\n  * b", "* a\n  * b\n  * be brief"},
		{"x\n\n\nx\n\n", "x\n\n\nx\n\n- be brief\n\n"},
		{"-", "-\n\n- be brief"},
	} {
		w := newWorld(t, map[string]string{"repo/CLAUDE.md": c.text})
		r := w.room("repo")
		targets := r.Targets()
		if c.text != "\n" && targets[0].Shown != "CLAUDE.md" {
			t.Errorf("a line would go to %+v", targets[0])
		}
		call, err := r.Add(t.Context(), w.at("repo/CLAUDE.md"), " be \n brief")
		if err != nil {
			t.Fatal(err)
		}
		wants(t, "the file", edited(t, c.text, call.Name, call.Arguments), c.want)
	}
}

func TestWhereALineGoes(t *testing.T) {
	w := newWorld(t, map[string]string{"repo/AGENTS.md": "root", "repo/sub/x": ""})
	wants(t, "above", w.room("repo/sub").Targets()[0].Shown, "../AGENTS.md")
	w = newWorld(t, map[string]string{"repo/.cursor/rules/a.mdc": "x"})
	r := w.room("repo")
	if got := r.Targets()[0]; got.Shown != "AGENTS.md" || !got.New || !strings.Contains(got.Says(), ".cursor/rules will not be read beside it") {
		t.Errorf("a new file is %+v: %s", got, got.Says())
	}
	call, err := r.Add(t.Context(), w.at("repo/AGENTS.md"), "be brief")
	if err != nil || call.Name != "write" {
		t.Errorf("%+v, %v", call, err)
	}
	if _, err := r.Add(t.Context(), "/etc/passwd", "x"); err == nil {
		t.Error("a line was added to any file")
	}
	for range 2 {
		if call, err = r.Add(t.Context(), w.at("own/AGENTS.md"), "mine"); err != nil || call.Name != "" {
			t.Fatalf("%+v, %v", call, err)
		}
	}
	raw, err := os.ReadFile(w.at("own/AGENTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	wants(t, "the person's own", string(raw), "# Instructions\n\n- mine\n- mine\n")
}
