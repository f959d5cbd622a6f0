package toolset

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/sandbox/proc"
	"adze/internal/testkit/effort"
)

func TestOpensScreen(t *testing.T) {
	for command, want := range map[string]string{
		"vim a.go": "vim", "cd x && /usr/bin/vi a": "vi", "sudo -n nano /etc/hosts": "nano", "env A=1 vim": "vim", "for f in *; do vim $f; done": "vim",
		"echo $(view a)": "view", "htop": "htop",
		"vim -es -c 'wq' a": "", "vim +wq a": "", "vim '+wq' a": "", "vim a <<EOF\n:q\nEOF": "", "echo :q | vim a": "", "nano --version": "",
		"grep vim a": "", "echo 'vim a'": "", "which nano": "", "emacs --batch -l x.el": "", "vim a &": "", "cat .vimrc": "", "if then": "", "git log --grep=vim": "",
	} {
		if got := opensScreen(command); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

// Programs that would open an editor, a pager or a question for a password end at once, whatever
// the user has set.
func TestNothingWaitsForKeys(t *testing.T) {
	effort.Needs(t, effort.Short, "starts many programs")
	var base []string
	for _, name := range []string{"EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "PAGER", "GIT_PAGER", "MANPAGER"} {
		base = append(base, name+"=sleep 60")
	}
	base = append(base, "PATH="+os.Getenv("PATH"), "DISPLAY=:77", "SSH_ASKPASS=/bin/cat", "GIT_ASKPASS=/bin/cat", "TERM=xterm")
	b := newShellBench(t, func(s *Shell) {
		home := t.TempDir()
		s.Env = proc.Environ(append(base, "HOME="+home), proc.EnvPolicy{Set: []string{"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}})
		config := "[core]\n\teditor = sleep 60\n\tpager = sleep 60\n\taskPass = sleep\n[sequence]\n\teditor = sleep 60\n[init]\n\tdefaultBranch = main\n"
		if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	const words = "no editor can be opened here"
	for _, c := range []struct{ program, command, says string }{
		{"git", "git init -q . && git commit -q --allow-empty -m one && git commit -q --allow-empty -m two && git log --oneline", "one"},
		{"git", "git commit --amend --allow-empty", words},
		{"git", "git commit --allow-empty", words},
		{"git", "git commit --amend --no-edit --allow-empty -q && echo kept", "kept"},
		{"git", "git tag -a v1", words},
		{"git", "git rebase -i HEAD~1", words},
		{"git", "git notes edit", words},
		{"git", "git config --edit", words},
		{"git", "GIT_EDITOR=true git commit --amend --allow-empty -q && echo kept", "kept"},
		{"git", "git -c core.editor='echo named >>' commit --amend --allow-empty -q; git log -1 --format=%B; git -c core.editor=true commit --amend --allow-empty -q && echo kept", "kept"},
		{"git", "git -c sequence.editor=true rebase -i HEAD~1 && echo kept", "kept"},
		{"git", "git -p log; git --paginate diff HEAD~1", "two"},
		{"git", "git ls-remote http://127.0.0.1:1/x", "fatal"},
		{"ssh", "ssh -o ConnectTimeout=3 -p 1 nobody@127.0.0.1", "onnection"},
		{"sudo", "sudo -k; sudo -A -u nobody true; echo over", "over"},
		{"less", "echo text > f; less f; more f", "text"},
		{"man", "man -P 'sleep 60' --help | head -n 1; man ls | head -n 1; echo over", "over"},
		{"vim", "vim f", "waits for keys"},
		{"vi", "vi f", "waits for keys"},
		{"vim", "echo 'echo begun; vim f' > s; sh s", "vim waits for keys"},
		{"vim", "echo 'vim f; echo over' > s; sh s | cat", "vim waits for keys"},
		{"vim", "exec 0>&2; sleep 0.1; echo written | cat; sleep 3; echo over", "over"},
		{"ed", "ed f", "exit code"},
		{"python3", "python3 -c 'input()'", "EOF"},
		{"crontab", "crontab -e; echo over", "over"},
		{"su", "su nobody -s /bin/true; echo over", "over"},
		{"passwd", "passwd nobody; echo over", "over"},
		{"sh", "read x; read y < /dev/tty; echo over", "over"},
		{"sh", "$EDITOR f; sh -c \"$VISUAL f\"", words},
		{"top", "top; echo over", "over"},
		{"python3", "python3 -c 'import getpass; getpass.getpass()'; echo over", "over"},
	} {
		if _, err := exec.LookPath(c.program); err != nil {
			t.Logf("%s is not installed: %s", c.program, c.command)
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		if o := b.bash(ctx, c.command); ctx.Err() != nil || !strings.Contains(o.Output, c.says) {
			t.Errorf("%s: want %q\n%v: %s", c.command, c.says, ctx.Err(), o.Output)
		}
		cancel()
	}
}
