// Package commands expands a prompt that begins with a slash: a command or skill of the user or the
// project.
//
// The one rule: nothing runs without the permission check, and nothing from a project without the
// user's consent to its current form; the user's text after a name is always a word, never shell
// code.
//
// Start reading at Menu.Prompt; expand.go builds the text and selects the file's model, args.go
// fills in arguments, shell.go those in commands.
//
// Known limits: a command from a folder above the current one cannot be allowed to run anything:
// start adze there. A file's demands for tools or agents are reported and not met; shell parts of a
// skill are text.
package commands

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"adze/internal/project/discovery"
	"adze/internal/project/trust"
	"adze/internal/text/usage"
	"adze/prompts"
	"adze/session"
	"adze/tool"
)

// A Menu holds the names after a slash.
type Menu struct {
	Items   []discovery.Item // earlier names win
	Skills  []discovery.Item
	Project trust.Project // with the user's consents
	// BuiltIn holds the interface's own names. They win, and do nothing elsewhere.
	BuiltIn []string
	// Note sends the model a skill's text before the prompt.
	Note func(session.Note)
	// Notice shows the user a message. It may be nil.
	Notice func(text string)
	// LendModel makes the model named by a file answer the turn, and returns its full name. If nil, the
	// session's model always answers.
	LendModel func(of discovery.Origin, model string) (full string, err error)
	// Expander returns the function that expands another name, such as a prompt of an MCP server. It
	// may be nil.
	Expander func(name string) (compose func(ctx context.Context, rest string) (string, error), ok bool)
	// Mask hides secrets in a file's text. It may be nil.
	Mask func(string) string
}

// modelOnly explains why a skill cannot be named.
const modelOnly = "it says that only the model loads it"

// New finds all commands and skills. The caller closes the finder after the menu's last use.
func New(ctx context.Context, f *discovery.Finder, builtIn []string) *Menu {
	m := &Menu{BuiltIn: builtIn, Skills: f.Find(ctx, discovery.Skill)}
	m.Items = slices.Concat(builtIns(), f.Find(ctx, discovery.Command), m.Skills)
	for n := range m.Items {
		i := &m.Items[n]
		if by, _ := i.FrontMatter.Bool("user-invocable"); i.Kind == discovery.Skill && !by && i.FrontMatter.Text("user-invocable") != "" {
			i.Problem = modelOnly
		}
		i.ShadowedBy = ""
	}
	slices.SortStableFunc(m.Items, func(a, b discovery.Item) int { return rank(a) - rank(b) })
	discovery.Shadow(len(m.Items), func(n int) *discovery.Item { return &m.Items[n] })
	for n := range m.Items {
		if i := &m.Items[n]; i.ShadowedBy == "" && m.own(i.Name) {
			i.ShadowedBy = "adze's own /" + i.Name
		}
	}
	return m
}

func builtIns() []discovery.Item {
	return []discovery.Item{discovery.Built("init", "write or improve this project's AGENTS.md", prompts.Init())}
}

// rank orders built-in items first, then the user's, then the project's.
func rank(i discovery.Item) int {
	return slices.Index([]discovery.Origin{discovery.BuiltIn, discovery.Person, discovery.Project}, i.Origin)
}

func (m *Menu) own(name string) bool { return slices.Contains(m.BuiltIn, name) }

// Listed returns the names to show.
func (m *Menu) Listed() (out []discovery.Item) {
	for _, i := range m.Items {
		if i.Problem == "" {
			out = append(out, i)
		}
	}
	return out
}

// maxBroken limits the files named in one line.
const maxBroken = 3

// Broken names the unusable files in one line: a silently missing skill is hard to find.
func (m *Menu) Broken() []string {
	var files []string
	seen := map[string]bool{}
	for _, i := range slices.Concat(m.Items, m.Skills) {
		if i.Problem != "" && i.Problem != modelOnly && !seen[i.Path] {
			files = append(files, i.Path+": "+i.Problem)
		}
		seen[i.Path] = true
	}
	if len(files) == 0 {
		return nil
	}
	more := ""
	if n := len(files) - maxBroken; n > 0 {
		files, more = files[:maxBroken], fmt.Sprintf("; and %d more", n)
	}
	return []string{"not usable: " + strings.Join(files, "; ") + more}
}

// Cut splits a prompt into the name after its slash and the rest; ok is false for a text or a path.
func Cut(prompt string) (name, rest string, ok bool) {
	after, ok := strings.CutPrefix(prompt, "/")
	if !ok {
		return "", "", false
	}
	name, rest = after, ""
	if at := strings.IndexAny(after, " \t\n"); at >= 0 {
		name, rest = after[:at], after[at+1:]
	}
	part := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.:/", r)
	}
	if name == "" || strings.IndexFunc(name, part) >= 0 || strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") {
		return "", "", false
	}
	return name, rest, true
}

// Prompt returns the input for a typed prompt: the text itself, or a command that is expanded when
// the turn begins, followed by tail. With strict, an unknown name is an error unless it is a path;
// otherwise it is text.
func (m *Menu) Prompt(typed, tail string, strict bool) (session.Input, error) {
	in := session.Input{Text: typed + tail}
	name, rest, ok := Cut(typed)
	if !ok {
		return in, nil
	}
	item, known := discovery.Named(m.Items, name)
	switch {
	case known && !m.own(name):
		x := expansion{menu: m, item: item, typed: strings.TrimSpace("/" + name + " " + strings.TrimSpace(rest)), rest: rest, tail: tail}
		in.Compose = x.compose
		return in, nil
	case !known && m.Expander != nil && !m.own(name):
		if compose, ok := m.Expander(name); ok {
			in.Compose = func(ctx context.Context, _ func(tool.RawCall) tool.Outcome) (string, error) {
				text, err := compose(ctx, strings.TrimSpace(rest))
				return text + tail, err
			}
			return in, nil
		}
	}
	switch {
	case !strict || isPath(name):
		return in, nil
	case m.own(name):
		return in, usage.Mistake("run adze in a terminal for it", "/%s is a command of the interface, which is not there", name)
	}
	hint := "a blank before the slash makes it text"
	if near := tool.Nearest(name, discovery.Names(m.Items), 3); len(near) > 0 {
		hint = "did you mean /" + strings.Join(near, ", /") + "? " + hint
	}
	return in, usage.Mistake(hint, "there is no command /%s", name)
}

// PromptWithInput is like Prompt for a command line's words and the piped input after them, both in
// in.Text. Unknown commands among the words are errors; piped input may contain anything. dress
// adds accompanying texts.
func (m *Menu) PromptWithInput(in session.Input, words string, dress func(string) string) (session.Input, error) {
	typed, strict := words, true
	if strings.TrimSpace(words) == "" {
		typed, strict = in.Text, false
	}
	dressed := dress(in.Text)
	out, err := m.Prompt(typed, strings.TrimPrefix(dressed, typed), strict)
	if out.Compose == nil {
		out.Text = dressed
	}
	out.Attachments = in.Attachments
	return out, err
}

// isPath reports whether a text begins with a local path, such as /etc/hosts.
func isPath(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	_, err := os.Lstat(filepath.Join("/", first))
	return err == nil
}
