package toolset

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"adze/internal/sandbox/proc"
)

// pipeline is the last pipeline of a command line. bash gives its last program's exit code alone,
// and a failure in front of tail or head goes unseen; so bash is asked for the others too, where
// that changes nothing else.
type pipeline struct {
	names []string // of its parts
	nonce string
}

// endsInPipeline reads a command line; if false, how its parts ended is not asked. The question
// stands behind the command line, so all is left out that could see it or stop it: traps and
// options of the shell, programs that look at processes, an open end.
func endsInPipeline(command string, env []string) (pipeline, bool) {
	if !strings.Contains(command, "|") || strings.Contains(command, "<<") || strings.HasSuffix(strings.TrimRight(command, " \t\n"), `\`) ||
		strings.Contains(command, "BASH_") || slices.ContainsFunc(env, shapesBash) {
		return pipeline{}, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil || len(file.Stmts) == 0 || !unseen(file) {
		return pipeline{}, false
	}
	last := file.Stmts[len(file.Stmts)-1]
	for {
		b, ok := last.Cmd.(*syntax.BinaryCmd)
		if !ok || last.Background || last.Negated || last.Coprocess || len(last.Redirs) > 0 {
			return pipeline{}, false
		}
		if b.Op != syntax.AndStmt {
			break
		}
		last = b.Y
	}
	parts := partsOf(last)
	if len(parts) < 2 {
		return pipeline{}, false
	}
	p := pipeline{}
	for i, part := range parts {
		p.names = append(p.names, nameOf(part, i))
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails
	p.nonce = hex.EncodeToString(random[:])
	return p, true
}

// shapesBash reports a variable that gives bash options, functions or a file to read before a
// command line.
func shapesBash(variable string) bool {
	return strings.HasPrefix(variable, "BASH_ENV=") || strings.HasPrefix(variable, "SHELLOPTS=") || strings.HasPrefix(variable, "BASHOPTS=") || strings.HasPrefix(variable, "BASH_FUNC_") || strings.HasPrefix(variable, "POSIXLY_CORRECT=")
}

// unseen reports that nothing in a command line could notice a command behind it.
func unseen(file *syntax.File) bool {
	ok := true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			ok = ok && n.Name.Value != "printf" && n.Name.Value != "exit"
		case *syntax.CoprocClause:
			ok = false
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				break
			}
			name := path.Base(n.Args[0].Lit())
			switch name {
			case "set":
				ok = ok && harmlessSet(n.Args[1:])
			case ".", "trap", "exec", "source", "eval", "shopt", "enable", "builtin", "command", "alias", "readonly", "declare", "typeset", "ps", "pgrep", "pkill", "pidof", "top", "htop", "lsof", "fuser", "killall", "strace":
				ok = false // "." is the base of an unknown word, too
			}
		}
		return ok
	})
	return ok
}

// harmlessSet reports options that only make a shell stop sooner.
func harmlessSet(args []*syntax.Word) bool {
	return len(args) > 0 && !slices.ContainsFunc(args, func(w *syntax.Word) bool {
		return !slices.Contains([]string{"-e", "-u", "-eu", "-ue", "-euo", "-eo", "-uo", "-o", "pipefail", "errexit", "nounset"}, w.Lit())
	})
}

func partsOf(s *syntax.Stmt) []*syntax.Stmt {
	if b, ok := s.Cmd.(*syntax.BinaryCmd); ok && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll) && !s.Negated && !s.Background {
		return append(partsOf(b.X), partsOf(b.Y)...)
	}
	return []*syntax.Stmt{s}
}

// nameOf is what a part of a pipeline is called: its program, and a subcommand.
func nameOf(s *syntax.Stmt, at int) string {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || call.Args[0].Lit() == "" {
		return fmt.Sprintf("part %d", at+1)
	}
	name := path.Base(call.Args[0].Lit())
	if len(call.Args) > 1 {
		if sub := call.Args[1].Lit(); sub != "" && len(sub) <= 20 && strings.Trim(sub, "abcdefghijklmnopqrstuvwxyz-:") == "" && sub[0] != '-' {
			name += " " + sub
		}
	}
	return name
}

// asks is a command line that tells behind its output how its parts ended, and exits as it would
// have.
func (p pipeline) asks(command string) string {
	return command + "\n" + `__adze="$? ${PIPESTATUS[*]}"; printf '\036` + p.nonce + ` %s\036' "$__adze" 2>/dev/null; exit ${__adze%% *}`
}

// answer finds what asks printed.
func (p pipeline) answer() *regexp.Regexp {
	return regexp.MustCompile("\x1e" + p.nonce + " ([0-9]+)((?:[^0-9\x1e]{1,3}[0-9]+)*)\x1e")
}

// cleaned is a part of the output of a job, with words in place of the answer.
func (p pipeline) cleaned(text string) string {
	t := proc.Text{Head: text, Bytes: int64(len(text))}
	if failed := p.taken(&t); failed != "" {
		return endLine(t.Head) + "(" + failed + ")\n"
	}
	return t.Head
}

// longestAnswer is how many bytes an answer has at most.
const longestAnswer = 200

// taken removes the answer from an output, and says which part failed first though the whole did
// not: "go test: 1".
func (p pipeline) taken(t *proc.Text) string {
	end := &t.Head
	if t.Tail != "" {
		end = &t.Tail
	}
	m := p.answer().FindStringSubmatchIndex(*end)
	if m == nil {
		return ""
	}
	codes := regexp.MustCompile(`[0-9]+`).FindAllString((*end)[m[4]:m[5]], -1)
	whole := (*end)[m[2]:m[3]]
	*end = (*end)[:m[0]] + (*end)[m[1]:]
	t.Bytes -= int64(m[1] - m[0])
	if *end == "" && t.Bytes == 0 || strings.HasSuffix(*end, "\n") {
		t.Lines = max(0, t.Lines-1) // the answer was a line without an end
	}
	if whole != "0" || len(codes) != len(p.names) {
		return ""
	}
	for i, code := range codes[:len(codes)-1] {
		n, _ := strconv.Atoi(code) // digits
		if n != 0 && n != 141 {    // ended by SIGPIPE: what follows read enough
			return p.names[i] + ": " + code
		}
	}
	return ""
}

// hides is a writer's take without the answer, which may come in pieces; done writes what was held
// back.
func (p pipeline) hides(take func([]byte)) (each func([]byte), done func()) {
	var held []byte
	return func(chunk []byte) {
			held = p.answer().ReplaceAll(append(held, chunk...), nil)
			if free := len(held) - longestAnswer; free > 0 {
				take(held[:free])
				held = append([]byte(nil), held[free:]...)
			}
		}, func() {
			if len(held) > 0 {
				take(held)
			}
			held = nil
		}
}
