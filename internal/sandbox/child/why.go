package child

import (
	"regexp"
	"strings"
	"sync"
)

// The lines of standard error that say why a program ended, by the programs that write them.
var (
	nodeError = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(Uncaught )?[A-Z]\w*(Error|Exception)( \[\w+\])?: .`)
	})
	pythonError = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([\w.]+)(: .*)?$`) }) // what follows the frames of a traceback
	npmError    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^npm (error|ERR!)\s+(.+)$`) })
	npmDetail   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(code|errno|syscall|path|dest|command|spawnargs|A complete log|file|cwd|pkgid|network This is|enoent This is|404\s*$|404 Note|404 tarball|404  The)\b|^404\s*$`)
	})
	javaError   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(Exception in thread ".*"|Caused by:) `) })
	javaClass   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^Error: Could not find or load main class`) })
	goPanic     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(panic: |fatal error: )`) })
	goSource    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\S+\.go:\d+(:\d+)?: .`) })
	uvError     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(×|╰─▶|error:) `) })
	dockerError = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(docker: |Cannot connect to the Docker|Error response from daemon)`)
	})
	anyError = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\s*(fatal|error|fehler)\b|\b(error|exception|fatal|failed|failure|cannot|can't|could not|couldn't|unable to|not found|no such|no module named|denied|refused|missing|required|must be|invalid|unknown|ENOENT|EACCES|ECONNREFUSED|EADDRINUSE)\b`)
	})
	anyWords   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\S`) })
	emptyWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(Node\.js v|\s+at |\s*[\^~]+\s*$|[{}\]]|npm notice|exit status \d+$|Run 'docker |See 'docker |hint: |\s+code: '|\s*(code|errno|syscall): )`)
	})
)

// reason is the line of a program's standard error that says why it ended; if empty, there is none.
// The last line seldom does: behind the error come frames, versions and hints.
func reason(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r", "\n"), "\n")
	for _, find := range []func([]string) string{ofPython, ofNpm, ofUv, ofJava, lastOf(nodeError()), lastOf(goPanic()), ofGo, lastOf(dockerError()), lastOf(anyError()), lastOf(anyWords())} {
		if line := strings.TrimSpace(find(lines)); line != "" {
			return line
		}
	}
	return ""
}

// lastOf finds the last line that is like this.
func lastOf(like *regexp.Regexp) func([]string) string {
	return func(lines []string) string {
		for i := len(lines) - 1; i >= 0; i-- {
			if like.MatchString(lines[i]) && !emptyWords().MatchString(lines[i]) {
				return lines[i]
			}
		}
		return ""
	}
}

// ofPython is what follows the frames of the last traceback.
func ofPython(lines []string) string {
	for i := len(lines) - 1; i >= 0; i-- {
		if !strings.HasPrefix(strings.TrimSpace(lines[i]), "Traceback (most recent call last)") {
			continue
		}
		for _, line := range lines[i+1:] {
			if line != "" && line[0] != ' ' && line[0] != '\t' && pythonError().MatchString(line) {
				return line
			}
		}
	}
	return ""
}

// ofNpm is the first line of npm's that is no detail.
func ofNpm(lines []string) string {
	code := ""
	for _, line := range lines {
		m := npmError().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if rest, ok := strings.CutPrefix(m[2], "code "); ok {
			code = rest
		}
		if !npmDetail().MatchString(m[2]) {
			if code != "" && !strings.Contains(m[2], code) {
				return "npm error " + code + ": " + m[2]
			}
			return "npm error " + m[2]
		}
	}
	if code != "" {
		return "npm error " + code
	}
	return ""
}

// ofUv joins what uv says and its cause.
func ofUv(lines []string) string {
	out := ""
	for _, line := range lines {
		if uvError().MatchString(line) {
			if out != "" {
				out += " "
			}
			out += strings.TrimSpace(line)
		}
	}
	if strings.HasPrefix(out, "error: ") || strings.HasPrefix(out, "×") {
		return out
	}
	return ""
}

// ofJava is the class that is not there, the last cause, or else what began.
func ofJava(lines []string) string {
	if line := lastOf(javaClass())(lines); line != "" {
		return line
	}
	return lastOf(javaError())(lines)
}

// ofGo is the first thing that the compiler says.
func ofGo(lines []string) string {
	for _, line := range lines {
		if goSource().MatchString(line) {
			return line
		}
	}
	return ""
}
