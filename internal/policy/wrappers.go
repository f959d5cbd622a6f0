package policy

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"adze/internal/policy/programs"
)

func base(program string) string { return path.Base(program) }

func oneOf(name, list string) bool {
	for word := range strings.FieldsSeq(list) {
		if word == name {
			return true
		}
	}
	return false
}

func isShell(name string) bool { return programs.Is("shell", name) }

// isBuiltin reports builtins that change what later text means or run text; a rule never allows
// them.
func isBuiltin(name string) bool { return programs.Is("builtin", name) }

// wrapper reports whether a program starts the one that is among its arguments, and how many words
// beside options may come before that one.
func wrapper(name string) (words int, ok bool) {
	switch {
	case programs.Is("starts", name), strings.HasPrefix(name, "ld-linux"), strings.HasPrefix(name, "ld.so"), strings.HasPrefix(name, "ld-musl"):
		return 0, true
	case programs.Is("starts-behind-a-word", name):
		return 1, true
	}
	return 0, false
}

// launcher finds the program behind a subcommand: docker exec NAME rm. At is where what follows the
// subcommand begins.
func launcher(program string, args []word) (at, skip int, ok bool) {
	seen := 0
	for i, a := range args {
		if !a.known || strings.HasPrefix(a.text, "-") {
			continue
		}
		if seen++; seen > 4 {
			break
		}
		switch key := program + " " + a.text; {
		case programs.Is("starts-in-place", program) && programs.Is("starts-by", a.text):
			return i + 1, 1, true
		case programs.Is("runs-tools", program) && programs.Is("runs-tools-by", a.text), key == "git run" && seen > 1, key == "git foreach", key == "cmake env", key == "cmake time":
			return i + 1, 0, true
		}
	}
	return 0, 0, false
}

// startsInCode finds what code of the usual languages needs to start a program, or to hide that it
// does.
var startsInCode = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("`|\\b(system|popen\\w*|p?exec\\w*|p?spawn\\w*|posix_spawn\\w*|subprocess|pty|ctypes|cffi|importlib|runpy|multiprocessing|asyncio|v?fork\\w*|" +
		"eval|compile|getattr|globals|locals|vars|builtins|child_process|qx|passthru|shell_exec|proc_open|pcntl\\w*|Function|constructor|binding|syscall|" +
		"loadstring|dlopen|Open3|open3|Kernel|send|__\\w+|shell|run|cmd|getline|do shell script|ccall|sh)\\b|\\||\\bopen\\s*\\(?[^)]*-|%x|\\\\x|\\\\u|\\\\0|chr\\b|fromCharCode|decode|pack\\b|:!")
})

// runsInSed finds the command e and the flag e of GNU sed, which run what stands behind them or
// what they made.
var runsInSed = sync.OnceValue(func() *regexp.Regexp {
	const address = `(\d+(~\d+)?|\$|/[^/\n]*/[IM]*|\\.[^\n]*)`
	return regexp.MustCompile(`(?s)(^|[;{}\n])\s*(` + address + `\s*(,\s*[+~]?` + address + `)?)?[\s!]*e|s([^\w\s]).*[^\w\s][gpiImM0-9]*e[gpiImM0-9]*(\s|;|}|#|$)`)
})

// lasting reports whether a user may allow a command for the whole session: not when what it runs
// is named, written or fetched elsewhere.
func lasting(s simple) bool {
	name := base(s.name())
	if _, interprets := programs.CodeOption(name, ""); interprets || programs.Does("unlasting", texts(s.words)...) {
		return false
	}
	// A rule that begins with mcp: is about a server.
	return !startsPrograms(s) && !isBuiltin(name) && !strings.HasPrefix(s.name(), serverPrefix)
}
