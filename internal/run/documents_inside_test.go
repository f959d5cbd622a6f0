package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"mvdan.cc/sh/v3/syntax"

	"adze/internal/run/process"
)

// CommandsOf has the tests outside of this package see commandsOf.
func CommandsOf(page string) [][]string { return commandsOf(page) }

// commandsOf are the commands of adze in the indented blocks of a page, each as words. A line that
// is no shell is none.
func commandsOf(page string) (out [][]string) {
	for line := range strings.SplitSeq(page, "\n") {
		if !strings.HasPrefix(line, "    ") {
			continue
		}
		for _, note := range []string{" [words", "   #"} { // in the place of a prompt, and what the line does
			line, _, _ = strings.Cut(line, note)
		}
		file, err := syntax.NewParser().Parse(strings.NewReader(strings.TrimSpace(line)), "")
		if err != nil {
			continue
		}
		syntax.Walk(file, func(n syntax.Node) bool {
			call, ok := n.(*syntax.CallExpr)
			if !ok {
				return true
			}
			var words []string
			for _, w := range call.Args {
				var b strings.Builder
				for _, part := range w.Parts {
					switch part := part.(type) {
					case *syntax.Lit:
						b.WriteString(part.Value)
					case *syntax.SglQuoted:
						b.WriteString(part.Value)
					case *syntax.DblQuoted:
						for _, inner := range part.Parts {
							if lit, ok := inner.(*syntax.Lit); ok {
								b.WriteString(lit.Value)
							}
						}
					}
				}
				words = append(words, b.String())
			}
			switch {
			case len(words) == 0:
			case words[0] == "adze" || words[0] == "./adze":
				out = append(out, words[1:])
			case len(words) > 2 && words[0] == "go" && words[1] == "run" && words[2] == ".":
				out = append(out, words[3:])
			}
			return true
		})
	}
	return out
}

// TestCommandsOfDocumentsAreTaken gives each command that a document shows to the command line: its
// name, its flags with their values, and the number of its words. Nothing is run.
func TestCommandsOfDocumentsAreTaken(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, page := range append(pages, filepath.Join("..", "..", "README.md"), filepath.Join("..", "..", "CONTRIBUTING.md")) {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range commandsOf(string(raw)) {
			seen++
			line := "adze " + strings.Join(words, " ")
			c, rest, err := commandLine(&app{&process.Process{}}).Find(words)
			if err != nil {
				t.Errorf("%s: %s: %v", page, line, err)
				continue
			}
			if err := c.ParseFlags(rest); err != nil && err != pflag.ErrHelp {
				t.Errorf("%s: %s: %v", page, line, err)
				continue
			}
			args := c.Flags().Args()
			if c.DisableFlagParsing {
				args = rest
			}
			if err := c.ValidateArgs(args); err != nil {
				t.Errorf("%s: %s: %v", page, line, err)
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d commands were found", seen)
	}
	for line, want := range map[string]int{"    adze undo --dry-run   # what would change\n": 1, "adze undo\n": 0, "    git diff | ./adze -p \"review\"\n": 1, "    {\"a\": 1}\n": 0} {
		if got := len(commandsOf(line)); got != want {
			t.Errorf("%q has %d commands, want %d", line, got, want)
		}
	}
}
