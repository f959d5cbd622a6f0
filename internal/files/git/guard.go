package git

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/sandbox/proc"
)

// Guard returns variables under which a git that somebody else starts in the folders runs no
// program that their repositories name. What the user has configured, for all repositories or the
// machine, stays: only settings of a repository itself are overridden, with the user's value
// where there is one. Found tells whether there were any, or hooks.
//
// Looks says that git only looks there, so that it needs no server, no signature and no hook: then
// what safeOptions names is switched off whoever has set it, and the user's own hooks are too.
func (g Git) Guard(ctx context.Context, looks bool, dirs ...string) (env []string, found bool) {
	mine, theirs := map[string][]string{}, map[string]bool{}
	for i, dir := range dirs {
		r := &Repo{git: g, dir: dir}
		r.scoped(ctx, func(own bool, key, value string) {
			switch {
			case own:
				theirs[key] = true
			case i == 0:
				mine[key] = append(mine[key], value)
			}
		})
		found = found || len(hooksIn(filepath.Join(r.home(), ".git", "hooks"))) > 0
	}
	var settings [][2]string
	for _, kv := range [][2]string{{"core.fsmonitor", "false"}, {"core.hookspath", "/dev/null"}, {"protocol.ext.allow", "never"},
		{"diff.ignoresubmodules", "dirty"}, {"submodule.recurse", "false"}} {
		if len(mine[kv[0]]) == 0 {
			settings = append(settings, kv)
		}
	}
	if looks {
		settings = append(settings, quietSettings()...)
	}
	for _, key := range slices.Sorted(maps.Keys(theirs)) {
		if value, runs := harmless(key); runs {
			found = true
			settings = append(settings, instead(key, value, mine[key])...)
		}
	}
	env = []string{fmt.Sprint("GIT_CONFIG_COUNT=", len(settings))}
	for i, kv := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, kv[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, kv[1]))
	}
	return env, found
}

// scoped tells each setting, and whether it is the repository's own. Git runs nothing for that. A
// git older than 2.26 knows no scopes, and tells none.
func (r *Repo) scoped(ctx context.Context, each func(own bool, key, value string)) {
	seen, scope := 0, ""
	argv := []string{"git", "--no-pager", "config", "--list", "--show-scope", "-z"}
	s := splitter{each: func(text string) {
		if seen++; seen%2 == 1 {
			scope = text
			return
		}
		key, value, _ := strings.Cut(text, "\n")
		if scope != "command" {
			each(scope == "local" || scope == "worktree", key, value)
		}
	}}
	_, _ = r.git.Supervisor.Run(ctx, proc.Command{Argv: argv, Dir: r.dir, Env: r.git.Env, Tag: "git config", Timeout: DefaultTimeout,
		Separate: true, MaxOutput: maxText, Spill: s.write})
}

// instead are the settings that take the place of a repository's. Credential helpers are a list,
// which an empty one begins anew; of the others the last counts.
func instead(key, value string, mine []string) [][2]string {
	if strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, "pack") {
		return [][2]string{{"protocol.file.allow", "never"}} // the first counts; over ssh it names a program of the other side
	}
	if strings.HasSuffix(key, ".helper") {
		out := [][2]string{{key, ""}}
		for _, helper := range mine {
			out = append(out, [2]string{key, helper})
		}
		return out
	}
	if len(mine) > 0 {
		value = mine[len(mine)-1]
	}
	return [][2]string{{key, value}}
}

// plainDiff does what git diff would without an external program; git calls it with the two files
// as $2 and $5.
const plainDiff = `f() { diff -u --label "a/$1" --label "b/$1" -- "$2" "$5" || :; }; f`

// harmless is the value that makes a setting run nothing; runs is false where it names no program
// anyway. Git writes the section and the last word of a key in lower case.
func harmless(key string) (value string, runs bool) {
	section, _, _ := strings.Cut(key, ".")
	last := key[strings.LastIndexByte(key, '.')+1:]
	switch section + "." + last {
	case "core.fsmonitor", "log.showsignature", "commit.gpgsign", "tag.gpgsign", "push.gpgsign":
		return "false", section == "core"
	case "core.hookspath":
		return "/dev/null", true
	case "core.pager", "interactive.difffilter", "tar.command", "diff.textconv":
		return "cat", true
	case "core.editor", "sequence.editor", "core.alternaterefscommand", "diff.guitool", "merge.guitool":
		return "false", true
	case "core.sshcommand":
		return "ssh", true
	case "core.askpass", "core.gitproxy", "credential.helper", "gpg.defaultkeycommand", "gc.recentobjectshook", "filter.clean", "filter.smudge", "filter.process":
		return "", true
	case "filter.required":
		return "false", false
	case "diff.external", "diff.command":
		return plainDiff, true
	case "merge.driver":
		return "git merge-file --marker-size=%L %A %O %B", true
	case "gpg.program":
		return gpg(key), true
	case "remote.uploadpack", "remote.receivepack":
		return "", true
	case "remote.vcs":
		return "none", true
	case "diff.ignoresubmodules":
		return "dirty", false
	case "alias." + last:
		return "!false", true
	case "pager." + last:
		return "false", true
	case "submodule.update":
		return "checkout", true
	}
	return "false", slices.Contains([]string{"cmd", "command", "program", "helper", "path", "tocmd", "cccmd", "headercmd", "smtpserver", "tunnel", "browser"}, last) &&
		slices.Contains([]string{"difftool", "mergetool", "browser", "man", "web", "help", "trailer", "sendemail", "imap", "instaweb", "credential", "guitool"}, section)
}

func gpg(key string) string {
	switch key {
	case "gpg.ssh.program":
		return "ssh-keygen"
	case "gpg.x509.program":
		return "gpgsm"
	}
	return "gpg"
}
