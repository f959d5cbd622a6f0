package child

import (
	"regexp"
	"strings"
	"sync"
)

// Patterns for error lines, the surest first.
var (
	namedError = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^((Uncaught )?[\w.$]*(Error|Exception)( \[\w+\])?: .|Caused by: |panic: |fatal error: |docker: |\S+\.go:\d+(:\d+)?: .)`)
	})
	anyError = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\s*(fatal|error|fehler|×)|\b(error|exception|fatal|failed|failure|cannot|can't|could not|couldn't|unable to|not found|no such|no module named|denied|refused|missing|required|must be|invalid|unknown|ENOENT|EACCES|ECONNREFUSED|EADDRINUSE)\b`)
	})
	anyWords = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\S`) })
	// emptyWords matches the first words in frames, versions and hints.
	emptyWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(Node\.js v|\s+at |\s*[\^~]+\s*$|[{}\]]|npm notice|exit status \d+$|Run 'docker |See 'docker |hint: |\s+code: '|\s*(code|errno|syscall): )` +
			`|^npm (error|ERR!)\s+(code|errno|syscall|path|dest|command|spawnargs|A complete log|file|cwd|pkgid|network This is|enoent This is|404\s*$|404 Note|404 tarball|404  |enoent\s*$)`)
	})
)

// reason returns the line of standard error with the cause of the exit, or "". It is seldom the
// last one: frames, versions and hints follow.
func reason(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r", "\n"), "\n")
	for _, like := range []*regexp.Regexp{namedError(), anyError(), anyWords()} {
		for i := len(lines) - 1; i >= 0; i-- {
			if like.MatchString(lines[i]) && !emptyWords().MatchString(lines[i]) {
				return strings.TrimSpace(lines[i])
			}
		}
	}
	return ""
}
