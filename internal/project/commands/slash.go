// Package commands is what a prompt that begins with a slash means: a command or a skill that the
// user or the project carries.
//
// The one rule: nothing of it runs that did not pass the gate, and nothing of a project that its
// person did not allow as it stands; what the user writes behind a name is a word, and never text
// for a shell.
//
// Start reading at Menu.Prompt; expand.go makes the text and asks for the model that a file names,
// args.go fills in arguments, shell.go those of commands.
//
// Known limits: a command of a folder above the working folder cannot be allowed to run anything:
// adze has to be started there. What a file asks of tools or agents is told and not done; shell
// parts of a skill are text.
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

// Menu is what can be named after a slash.
type Menu struct {
	Items   []discovery.Item // whose names win before others
	Skills  []discovery.Item
	Project trust.Project // what its person allowed
	// BuiltIn are the names that are the interface's own: they win, and mean nothing without it.
	BuiltIn []string
	// Note hands the model the text of a skill, before the prompt.
	Note func(session.Note)
	// Notice tells the user something; if nil, nobody is told.
	Notice func(text string)
	// Lend has the model that a file names answer the turn, and says which one that is; if nil, the
	// session's always answers.
	Lend func(of discovery.Origin, model string) (full string, err error)
	// Others are names that no file carries, such as those of prompts of MCP servers: what makes a
	// text of what is written behind one; if nil, there are none.
	Others func(name string) (compose func(ctx context.Context, rest string) (string, error), ok bool)
	// Mask hides secrets in what a file says; if nil, nothing is hidden.
	Mask func(string) string
}

// modelOnly is why a skill cannot be named.
const modelOnly = "it says that only the model loads it"

// New looks for what is carried. The caller closes the finder when the menu is used no more.
func New(ctx context.Context, f *discovery.Finder, builtIn []string) *Menu {
	m := &Menu{BuiltIn: builtIn, Skills: f.Find(ctx, discovery.Skill)}
	m.Items = slices.Concat(builtIns(), f.Find(ctx, discovery.Command), m.Skills)
	for n := range m.Items {
		i := &m.Items[n]
		if by, _ := i.Front.Bool("user-invocable"); i.Kind == discovery.Skill && !by && i.Front.Text("user-invocable") != "" {
			i.Problem = modelOnly
		}
		i.By = ""
	}
	slices.SortStableFunc(m.Items, func(a, b discovery.Item) int { return rank(a) - rank(b) })
	discovery.Shadow(len(m.Items), func(n int) *discovery.Item { return &m.Items[n] })
	for n := range m.Items {
		if i := &m.Items[n]; i.By == "" && m.own(i.Name) {
			i.By = "adze's own /" + i.Name
		}
	}
	return m
}

// builtIns are the commands that are prompts of adze's own.
func builtIns() []discovery.Item {
	return []discovery.Item{discovery.Built("init", "write or improve this project's AGENTS.md", prompts.Init())}
}

// rank puts what is the user's before what is the project's.
func rank(i discovery.Item) int {
	return slices.Index([]discovery.Origin{discovery.BuiltIn, discovery.Person, discovery.Project}, i.Origin)
}

func (m *Menu) own(name string) bool { return slices.Contains(m.BuiltIn, name) }

// Listed are what can be named, for who shows it.
func (m *Menu) Listed() (out []discovery.Item) {
	for _, i := range m.Items {
		if i.Problem == "" {
			out = append(out, i)
		}
	}
	return out
}

// maxBroken is how many files one line names.
const maxBroken = 3

// Broken tells which files cannot be used, in one line: a skill that is silently not there is
// looked for long.
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

// Cut splits a prompt into the name behind its slash and the rest; ok false: it is no such prompt,
// but text or a path.
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

// Prompt makes of what was typed what is sent: itself, or what its command makes of it when the
// turn has begun; tail is sent behind it. strict: a name that nobody has is a mistake, unless it is
// a path; else it is text.
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
	case !known && m.Others != nil && !m.own(name):
		if compose, ok := m.Others(name); ok {
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

// Given is Prompt for what a program was started with: words of its command line, and what was
// piped in, which stands behind them in the text. Words that are no command are a mistake; a pipe
// may hold anything. dress adds to a text what goes with it.
func (m *Menu) Given(in session.Input, words string, dress func(string) string) (session.Input, error) {
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

// isPath reports a text that begins with a path of this machine, such as /etc/hosts.
func isPath(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	_, err := os.Lstat(filepath.Join("/", first))
	return err == nil
}
