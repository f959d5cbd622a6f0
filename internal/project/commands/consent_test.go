package commands_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/project/commands"
	"adze/internal/project/discovery"
	"adze/internal/project/trust"
	"adze/session"
	"adze/tool"
)

// kitchen is a project with a menu of what it carries.
type kitchen struct {
	*testing.T
	dir string
	p   trust.Project
}

func newKitchen(t *testing.T) *kitchen {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &kitchen{t, dir, trust.Project{Dir: dir, Book: trust.OpenBook(t.TempDir())}}
}

func (k *kitchen) write(name, text string) {
	k.Helper()
	file := filepath.Join(k.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		k.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		k.Fatal(err)
	}
}

func (k *kitchen) menu() *commands.Menu {
	f := discovery.For("", "", k.dir)
	k.Cleanup(f.Close)
	m := commands.New(k.Context(), f, []string{"help"})
	m.Project = k.p
	return m
}

func (k *kitchen) allow() {
	k.Helper()
	items, err := k.p.Survey()
	if err != nil {
		k.Fatal(err)
	}
	if err := k.p.Book.Allow(k.Context(), k.dir, items...); err != nil {
		k.Fatal(err)
	}
}

// give uses a command; ran are the commands that went to the gate, and each is answered by do.
func (k *kitchen) give(m *commands.Menu, text string, do func()) (sent string, ran []string, err error) {
	k.Helper()
	in, err := m.Prompt(text, "", true)
	if err != nil || in.Compose == nil {
		return in.Text, nil, err
	}
	sent, err = in.Compose(k.Context(), func(c tool.RawCall) tool.Outcome {
		if c.Origin != tool.FromCommand {
			k.Errorf("a call has the origin %s", c.Origin)
		}
		ran = append(ran, c.Arguments)
		if do != nil {
			do()
		}
		return tool.Outcome{Status: tool.Completed, Output: "out\nexit code 0 after 1ms"}
	})
	return sent, ran, err
}

// A file that is exchanged after consent runs nothing, at whatever moment it is exchanged.
func TestACommandThatIsExchangedIsAskedAgain(t *testing.T) {
	const file = ".claude/commands/x.md"
	k := newKitchen(t)
	k.write(file, "One !`echo a` two !`echo b`")
	m := k.menu()
	if _, ran, err := k.give(m, "/x", nil); err == nil || len(ran) > 0 {
		t.Fatalf("before consent: ran %q, %v", ran, err)
	}
	k.allow()
	if sent, ran, err := k.give(m, "/x", nil); err != nil || len(ran) != 2 || !strings.Contains(sent, "One out two out") {
		t.Fatalf("after consent: %q, ran %q, %v", sent, ran, err)
	}
	k.write(file, "One !`echo a` two !`rm -rf b`")
	if _, ran, err := k.give(m, "/x", nil); err == nil || len(ran) > 0 {
		t.Errorf("exchanged before its use: ran %q, %v", ran, err)
	}
	k.allow()
	if _, ran, err := k.give(m, "/x", func() { k.write(file, "One !`echo a` two !`rm -rf /`") }); err == nil || len(ran) != 1 {
		t.Errorf("exchanged between two parts: ran %q, %v", ran, err)
	}
	k.write(file, "One !`echo a`")
	k.allow()
	var failed *session.ComposeError
	if err := os.Remove(filepath.Join(k.dir, file)); err != nil {
		t.Fatal(err)
	}
	if _, ran, err := k.give(m, "/x", nil); !errors.As(err, &failed) || len(ran) > 0 {
		t.Errorf("removed: ran %q, %v", ran, err)
	}
}

// What is allowed is what is run: each part that would run is one that the consent shows.
func TestConsentShowsAllThatRuns(t *testing.T) {
	for name, text := range map[string]string{
		".claude/commands/a.md":  "---\ndescription: !`not this`\n---\nOne !`echo a` and (!`echo b`)\n```!\necho c\necho d\n```\nx!`not this`\n!`` !`\n",
		".opencode/command/c.md": "!`echo a`\n!{not this}",
	} {
		k := newKitchen(t)
		k.write(name, text)
		k.write("x", "file")
		k.allow()
		items, _ := k.p.Survey()
		_, ran, err := k.give(k.menu(), "/"+strings.Split(filepath.Base(name), ".")[0], nil)
		if err != nil || len(items) != 1 {
			t.Errorf("%s: %d items, %v", name, len(items), err)
			continue
		}
		ran = commandsIn(ran)
		if len(ran) != len(items[0].Shell) || strings.Contains(strings.Join(ran, "\n"), "not this") {
			t.Errorf("%s: shown are %q, run are %q", name, items[0].Shell, ran)
		}
	}
}

// commandsIn are the commands among calls.
func commandsIn(calls []string) (out []string) {
	for _, c := range calls {
		if strings.Contains(c, `"command"`) {
			out = append(out, c)
		}
	}
	return out
}

// Output and arguments are never read for further parts.
func TestNothingIsScannedTwice(t *testing.T) {
	k := newKitchen(t)
	k.write(".claude/commands/x.md", "One $ARGUMENTS $0 two.")
	k.write("secret", "x")
	sent, ran, err := k.give(k.menu(), "/x '!`echo a`' @secret $ARGUMENTS", nil)
	if err != nil || len(ran) > 0 || !strings.Contains(sent, "One '!`echo a`' @secret $ARGUMENTS !`echo a` two.") {
		t.Errorf("sent %q, ran %q, %v", sent, ran, err)
	}
}

func TestAFileWithManyParts(t *testing.T) {
	k := newKitchen(t)
	k.write(".claude/commands/x.md", strings.Repeat("!`echo a`\n", 51))
	k.allow()
	if _, ran, err := k.give(k.menu(), "/x", nil); err == nil || len(ran) != 50 {
		t.Errorf("ran %d, %v", len(ran), err)
	}
	k.write(".claude/commands/y.md", "")
	if _, _, err := k.give(k.menu(), "/y", nil); err == nil {
		t.Error("an empty command was sent")
	}
}
