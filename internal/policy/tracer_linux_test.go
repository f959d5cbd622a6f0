package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// doing is one thing that a process was seen to do: it started a program, or wrote to a path.
type doing struct {
	program bool
	argv    []string
	path    string // absolute, links followed as far as the kernel told
	call    string
	by      string // the program that did it
}

func straceOrSkip(t *testing.T) string {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	if _, err := exec.LookPath("timeout"); err != nil {
		t.Skip("timeout is not installed")
	}
	if out, err := exec.Command(strace, "-f", "-z", "-y", "-xx", "--seccomp-bpf", "-e", "trace=execve", "true").CombinedOutput(); err != nil {
		t.Skipf("strace cannot be used here: %v %s", err, out)
	}
	return strace
}

// oneProcess is what one file of the trace tells.
type oneProcess struct {
	line     int // -1: not said
	does     []doing
	children []int
}

// readTrace gathers what the processes of each line did; if false, a process id came twice.
func readTrace(t *testing.T, root string) (out map[int][]doing, whole bool) {
	t.Helper()
	dir := filepath.Join(root, "trace")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[int]*oneProcess{}
	for _, e := range entries {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Ext(e.Name()), "."))
		if err != nil {
			t.Fatal(e.Name())
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[pid] = readProcess(t, root, string(text))
	}
	out, born := map[int][]doing{}, map[int]bool{}
	for _, p := range all {
		for _, pid := range p.children {
			if born[pid] {
				return nil, false
			}
			born[pid] = true
		}
		if p.line >= 0 {
			gather(all, p, p.line, out)
		}
	}
	return out, true
}

func gather(all map[int]*oneProcess, p *oneProcess, line int, out map[int][]doing) {
	out[line] = append(out[line], p.does...)
	for _, pid := range p.children {
		if child := all[pid]; child != nil && child.line < 0 {
			gather(all, child, line, out)
		}
	}
}

// readProcess reads the calls of one process, all of which succeeded: NAME(ARGUMENTS) = RESULT,
// with every text in hex.
func readProcess(t *testing.T, root, text string) *oneProcess {
	t.Helper()
	p := &oneProcess{line: -1}
	cwd, program := "", ""
	for raw := range strings.Lines(text) {
		name, rest, ok := strings.Cut(strings.TrimSpace(raw), "(")
		at := strings.LastIndex(rest, ") = ")
		if at < 0 {
			at = strings.LastIndex(rest, ")  ") // padded
		}
		if !ok || at < 0 || strings.ContainsAny(name, " -+") {
			continue
		}
		args, result := rest[:at], strings.TrimSpace(strings.TrimLeft(rest[at+1:], " ="))
		if _, after, ok := strings.Cut(args, "AT_FDCWD<"); ok {
			at, _, _ := strings.Cut(after, ">")
			cwd = unhex(t, at)
		}
		texts := textsIn(t, args)
		switch name {
		case "clone", "clone3", "fork", "vfork":
			if pid, err := strconv.Atoi(result); err == nil {
				p.children = append(p.children, pid)
			}
		case "chdir":
			cwd = resolveIn(cwd, texts[0], "")
		case "fchdir":
			_, after, _ := strings.Cut(args, "<")
			cwd = unhex(t, strings.TrimSuffix(after, ">"))
		case "execve", "execveat":
			program = texts[0]
			p.does = append(p.does, doing{program: true, path: program, argv: texts[1:], call: name})
		case "open", "openat", "creat":
			if name == "creat" || strings.Contains(args, "O_WRONLY") || strings.Contains(args, "O_RDWR") || strings.Contains(args, "O_CREAT") || strings.Contains(args, "O_TRUNC") {
				_, real, _ := strings.Cut(result, "<")
				path := unhex(t, strings.TrimSuffix(real, ">"))
				if rel, _ := filepath.Rel(root, path); program != "" || !p.started(rel) {
					p.does = append(p.does, doing{path: path, call: name, by: program})
				}
			}
		default:
			for _, path := range pathsOf(name, args, texts) {
				full := resolveIn(cwd, path, "")
				p.does = append(p.does, doing{path: filepath.Join(realPath(filepath.Dir(full)), filepath.Base(full)), call: name, by: program})
			}
		}
	}
	return p
}

// started takes the start of a line by where its output goes; that is the driver's doing.
func (p *oneProcess) started(output string) bool {
	name, ok := strings.CutPrefix(output, "out/")
	n, err := strconv.Atoi(name)
	if !ok || err != nil || p.line >= 0 {
		return false
	}
	p.line = n
	return true
}

// pathsOf are the paths that a call changes: for those that take two, both.
func pathsOf(name, args string, texts []string) []string {
	switch {
	case len(texts) == 0: // of a descriptor, which was opened before
		return nil
	case strings.HasPrefix(name, "symlink"):
		return texts[1:2]
	case strings.HasPrefix(name, "rename"), strings.HasPrefix(name, "link"):
		return texts[:2]
	}
	if at := strings.Index(args, "<"); at > 0 && !strings.HasPrefix(args, "AT_FDCWD") && !strings.HasPrefix(args, `"`) {
		inner, _, _ := strings.Cut(args[at+1:], ">")
		raw, err := strconv.Unquote(`"` + inner + `"`)
		if err == nil {
			return []string{resolveIn(raw, texts[0], "")}
		}
	}
	return texts[:1]
}

// textsIn are the texts in quotes.
func textsIn(t *testing.T, args string) (out []string) {
	for {
		_, after, ok := strings.Cut(args, `"`)
		if !ok {
			return out
		}
		text, rest, _ := strings.Cut(after, `"`)
		out, args = append(out, unhex(t, text)), rest
	}
}

func unhex(t *testing.T, text string) string {
	t.Helper()
	out, err := strconv.Unquote(`"` + text + `"`)
	if err != nil {
		t.Fatalf("%v in the trace: %.100s", err, text)
	}
	return out
}
