package toolset

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/files/git"
	"adze/internal/sandbox/proc"
	"adze/tool"
)

// maxGuarded bounds the repositories that one command line may name.
const maxGuarded = 8

// guard is the environment of a command that a rule allowed and no person has seen: no program is
// found in the workspace, and git runs none that a repository names. Named says that one of the
// repositories has hooks or names programs.
//
// Where all programs of a command only look, git also asks no server, checks no signature and takes
// no lock.
func (b basher) guard(ctx context.Context, command, dir string, judged *tool.Judged) (env []string, named bool) {
	env = asJudged(proc.Outside(b.shell.Env, b.root.Dir()))
	looks := judged != nil && judged.Looks
	if !strings.Contains(command, "git") && !looks {
		return env, false
	}
	g := git.Git{Supervisor: b.shell.Supervisor, Env: env}
	if looks {
		env = git.Quiet(env)
	}
	if looks && !judged.Git && !strings.Contains(command, "go") {
		return env, false
	}
	settings, named := g.Guard(ctx, looks, repositories(command, dir)...)
	return append(env, settings...), named && !looks
}

// asJudged is an environment without what makes programs read their words in another way than they
// were judged: options behind operands as names of files, options that a variable adds, columns
// that a variable names.
func asJudged(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "POSIXLY_CORRECT", "_POSIX2_VERSION", "RIPGREP_CONFIG_PATH", "GZIP", "UNZIP", "UNZIPOPT", "ZIPINFO", "ZIPINFOOPT",
			"PS_PERSONALITY", "PS_FORMAT", "CMD_ENV", "I_WANT_A_BROKEN_PS", "FILE_OPTS", "MAGIC", "AWKPATH", "AWKLIBPATH":
			return true
		}
		return false
	})
}

// judgedText is the script that a gate has read, or the command as it is written.
func judgedText(command string, judged *tool.Judged) string {
	if judged != nil && judged.Script != "" {
		return judged.Script
	}
	return command
}

// repositories are the folders that a git of the command may work in: its own, and every one that a
// word names.
func repositories(command, dir string) []string {
	dirs := []string{dir}
	words := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n;|&='\"", r) })
	for _, word := range words {
		if !filepath.IsAbs(word) {
			word = filepath.Join(dir, word)
		}
		if info, err := os.Stat(word); err == nil && info.IsDir() && len(dirs) < maxGuarded {
			dirs = append(dirs, word)
		}
	}
	return dirs
}
