package batch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/sandbox/proc"
)

// maxGit bounds one run of git that talks with a server; a large repository takes its time.
const maxGit = 30 * time.Minute

// git runs git in a folder and returns what it wrote.
func (b *Batch) git(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	own := slices.DeleteFunc(slices.Clone(b.Env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "GIT_SSH") && !strings.HasPrefix(name, "GIT_SSL") &&
			!strings.HasPrefix(name, "GIT_AUTHOR") && !strings.HasPrefix(name, "GIT_COMMITTER") && name != "GIT_ASKPASS" && name != "GIT_CONFIG_GLOBAL"
	})
	own = append(own, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	argv := append([]string{"git", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.fsmonitor=false"}, args...)
	r, err := proc.Supervisor{}.Run(ctx, proc.Command{Argv: argv, Dir: dir, Env: append(proc.Outside(own, dir), env...), Timeout: maxGit, Separate: true, Head: 1 << 20, Tail: 4 << 10})
	switch {
	case err != nil:
		return "", err
	case r.Killed != proc.ByItself:
		return "", fmt.Errorf("git %s was ended (%s)", args[0], r.Killed)
	case r.Code != 0:
		return "", &gitError{verb(args), strings.TrimSpace(r.Errors.Head + r.Errors.Tail)}
	}
	return strings.TrimSpace(r.Output.Head), nil
}

// verb is the first word of a git command line that is no option.
func verb(args []string) string {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-c" || args[i] == "-C":
			i++
		case !strings.HasPrefix(args[i], "-"):
			return args[i]
		}
	}
	return ""
}

// gitError is a git that did not succeed.
type gitError struct{ verb, said string }

func (e *gitError) Error() string {
	return "git " + e.verb + ": " + cmp.Or(lastLines(e.said, 4), "it failed")
}

// lastLines are the last lines of a text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
