package toolset

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// screens are the programs that wait for keys of a terminal, which no command has. What other
// programs start as an editor or a pager is set in the environment of commands (proc.Environ).
func screens() []string {
	return []string{"vim", "vi", "nvim", "view", "vimdiff", "nano", "pico", "emacs", "joe", "micro", "helix", "hx", "mcedit", "kak",
		"htop", "btop", "tig", "lazygit", "ranger"}
}

// opensScreen is the program of a command line that would wait for keys; if empty, none is seen.
// One that reads what is piped or redirected into it, or that is given its commands as options,
// does not wait.
func opensScreen(command string) (program string) {
	if !slices.ContainsFunc(screens(), func(name string) bool { return strings.Contains(command, name) }) {
		return ""
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return "" // bash will say what is wrong
	}
	fed := map[*syntax.Stmt]bool{}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				fed[n.Y] = true
			}
		case *syntax.Stmt:
			call, ok := n.Cmd.(*syntax.CallExpr)
			if !ok || fed[n] || n.Background || slices.ContainsFunc(n.Redirs, readsStdin) {
				break
			}
			if name := screenOf(call.Args); program == "" {
				program = name
			}
		}
		return true
	})
	return program
}

func readsStdin(r *syntax.Redirect) bool {
	return slices.Contains([]syntax.RedirOperator{syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.RdrInOut}, r.Op)
}

// screenOf is the program of a call where it is one of screens, also behind words that only start
// another one.
func screenOf(words []*syntax.Word) string {
	for len(words) > 0 && slices.Contains([]string{"command", "exec", "env", "sudo", "nohup", "time"}, words[0].Lit()) {
		words = words[1:]
		for len(words) > 0 && (strings.HasPrefix(words[0].Lit(), "-") || strings.Contains(words[0].Lit(), "=")) {
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return ""
	}
	name := path.Base(words[0].Lit())
	if !slices.Contains(screens(), name) || slices.ContainsFunc(words[1:], endsByItself) {
		return ""
	}
	return name
}

// endsByItself reports an option that gives the program its commands, or has it print something and
// end.
func endsByItself(w *syntax.Word) bool {
	option := w.Lit()
	if option == "" && len(w.Parts) > 0 {
		option = opening(w.Parts[0])
	}
	if strings.HasPrefix(option, "+") {
		return true
	}
	return slices.Contains([]string{"-e", "-E", "-s", "-es", "-Es", "-c", "-S", "--cmd", "--headless", "--batch", "-batch", "--script", "--eval",
		"--version", "--help", "-h", "-version"}, option)
}

// opening is the text that a part of a word begins with, as far as it is plain.
func opening(part syntax.WordPart) string {
	switch part := part.(type) {
	case *syntax.Lit:
		return part.Value
	case *syntax.SglQuoted:
		return part.Value
	case *syntax.DblQuoted:
		if len(part.Parts) > 0 {
			return opening(part.Parts[0])
		}
	}
	return ""
}
