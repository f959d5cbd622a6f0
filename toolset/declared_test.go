package toolset

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"adze/internal/sandbox/proc"
	"adze/tool"
)

// breakouts are values that have broken out of templates elsewhere.
func breakouts() []string {
	return []string{
		"", " ", "-", "--", "-rf", "--output=/etc/passwd", "$(touch pwned)", "`touch pwned`", "; touch pwned #", "&& touch pwned",
		"| tee pwned", "> pwned", "a\nb", "\n", "a'b", `a"b`, `'\''`, `\`, `\\`, "{text}", "{{", "}}", "$HOME", "~", "*", "?", "[a]", "!x",
		"{a,b}", "a\tb", "\x01", "é", "日本", "\u202e", "%s%n", "$'\\n'", "=x", "A=b", "#c",
	}
}

func declaration(t testing.TB, dir, text string) *declared {
	t.Helper()
	path := filepath.Join(dir, "tool.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := loadDeclared(path, NewShell(proc.Supervisor{}, []string{"PATH=" + os.Getenv("PATH")}))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const passing = `{"name": "pass", "description": "x",
	"parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
	"command": ["printf", "%s\\0", "--", "{text}", "in={text}=in"]}`

func TestArgumentsArriveByteForByte(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	d := declaration(t, t.TempDir(), passing)
	b := newDeclaredBench(t, passing)
	for _, text := range breakouts() {
		raw, _ := json.Marshal(map[string]string{"text": text})
		argv, err := d.argv(raw)
		want := []string{"printf", `%s\0`, "--", text, "in=" + text + "=in"}
		if err != nil || !slices.Equal(argv, want) {
			t.Errorf("%q: argv %q, %v", text, argv, err)
		}
		// What the gate judges is what runs: a shell reads the same words in it.
		cmd := exec.Command("bash", "--norc", "-c", shellQuoted(argv))
		cmd.Dir = b.dir
		out, err := cmd.Output()
		if whole := "--\x00" + text + "\x00in=" + text + "=in\x00"; err != nil || string(out) != whole {
			t.Errorf("%q: the quoted command prints %q, %v", text, out, err)
		}
		o := b.play(t, "pass", string(raw)).outcome
		if shown := tool.ShownHidden(plainText("--\x00" + text + "\x00in=" + text + "=in\x00")); o.Status != tool.Completed || !strings.HasPrefix(o.Output, shown) {
			t.Errorf("%q: %s %q, want %q", text, o.Status, o.Output, shown)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(b.dir, "pwned*")); len(left) > 0 {
		t.Errorf("something was run: %q", left)
	}
}

func TestANulInAnArgumentIsRefused(t *testing.T) {
	b := newDeclaredBench(t, passing)
	if o := b.play(t, "pass", `{"text": "a\u0000b"}`).outcome; o.Code != tool.CodeInvalidArguments {
		t.Errorf("%s %q", o.Code, o.Output)
	}
}

func newDeclaredBench(t *testing.T, file string) *bench {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "declared"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "declared", "x.json"), []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, dir)
	if len(b.mistakes) > 0 {
		t.Fatal(b.mistakes)
	}
	return b
}

func TestDeclaredFilesThatCouldBeSomebodyElsesAreNotRead(t *testing.T) {
	dir := t.TempDir()
	shell := NewShell(proc.Supervisor{}, []string{"PATH=" + os.Getenv("PATH")})
	open := filepath.Join(dir, "open.json")
	if err := os.WriteFile(open, []byte(passing), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "huge.json"), make([]byte, maxDeclaration+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "link.json")); err != nil {
		t.Fatal(err)
	}
	all := &Declared{Dir: dir}
	all.enlist(&tool.Registry{}, nil, shell)
	names, mistakes := all.Names, all.Mistakes
	if len(names) != 0 || len(mistakes) != 4 {
		t.Fatalf("names %q, mistakes %q", names, mistakes)
	}
	for i, want := range []string{"folder.json: is not a regular file", "huge.json: has ", "link.json: no such file", "open.json: can be written by others"} {
		if !strings.Contains(mistakes[i].Error(), want) {
			t.Errorf("%q does not say %q", mistakes[i], want)
		}
	}
}

func TestAProgramBesideItsFileIsFound(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "run"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	d := declaration(t, dir, strings.Replace(passing, `"printf"`, `"./run"`, 1))
	if argv, err := d.argv(json.RawMessage(`{"text": "x"}`)); err != nil || argv[0] != filepath.Join(dir, "run") {
		t.Errorf("argv %q, %v", argv, err)
	}
}

// FuzzTemplate: whatever a template and a value are, the value is in the argument as it is, and
// nothing else of it anywhere.
func FuzzTemplate(f *testing.F) {
	for _, text := range breakouts() {
		f.Add("a", "b", text)
		f.Add(text, text, "x")
	}
	f.Fuzz(func(t *testing.T, before, after, value string) {
		if names, _ := placeholders(before + "{text}" + after); !utf8.ValidString(value) || len(names) != 1 || before+after == "" {
			return
		}
		raw, _ := json.Marshal(map[string]string{"text": value})
		d := &declared{Command: []string{before + "{text}" + after}}
		if got, err := d.argv(raw); !strings.Contains(before+after+value, "\x00") && (err != nil || len(got) != 1 || got[0] != before+value+after) {
			t.Errorf("%q, %q with %q is %q, %v", before, after, value, got, err)
		}
	})
}
