package git

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Guard returns environment variables that keep a git started by another program in these folders
// from running programs named by their repositories. Only repository settings are overridden, with
// the user's value if there is one; settings for the user or machine stay. Found reports whether
// there were such settings or hooks.
//
// Looks means that git only reads and needs no server, signature or hook: then everything in
// safeOptions is disabled whoever set it, including the user's own hooks.
func (g Git) Guard(ctx context.Context, looks bool, dirs ...string) (env []string, found bool) {
	mine, theirs := map[string][]string{}, map[string]bool{}
	for i, dir := range dirs {
		r := &Repo{git: g, dir: dir}
		all, _ := r.settings(ctx, true) // an error means no git or no repository: nothing to guard
		for _, s := range all {
			switch {
			case s.fromRepo:
				theirs[s.key] = true
			case i == 0:
				mine[s.key] = append(mine[s.key], s.value)
			}
		}
		if looks {
			for _, name := range namedIn(all, "hook") {
				theirs["hook."+name+".event"] = true
			}
		}
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

// instead returns the settings that replace a repository's setting. Credential helpers are a list,
// which an empty value resets; otherwise the last value counts. A hook is disabled by name.
func instead(key, value string, mine []string) [][2]string {
	if strings.HasPrefix(key, "hook.") {
		return [][2]string{{key[:strings.LastIndexByte(key, '.')] + ".enabled", "false"}}
	}
	if strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, "pack") {
		return [][2]string{{"protocol.file.allow", "never"}} // the first value counts; over ssh it names a program on the server
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

// plainDiff is git diff without an external program; git passes the two files as $2 and $5.
const plainDiff = `f() { diff -u --label "a/$1" --label "b/$1" -- "$2" "$5" || :; }; f`

// harmless returns the value that makes a setting run nothing; runs is false if it never names a
// program. Git prints a key's section and last word in lower case.
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
	case "core.editor", "sequence.editor", "core.alternaterefscommand", "diff.tool", "merge.tool", "diff.guitool", "merge.guitool", "man.viewer":
		return "false", true
	case "core.sshcommand":
		return "ssh", true
	case "core.askpass", "core.gitproxy", "credential.helper", "gpg.defaultkeycommand", "gc.recentobjectshook", "uploadpack.packobjectshook", "mergetool.layout", "filter.clean", "filter.smudge", "filter.process":
		return "", true
	case "filter.required":
		return "false", false
	case "hook.command", "hook.event", "hook.enabled":
		return "", strings.Count(key, ".") > 1
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
	return "false", slices.Contains([]string{"cmd", "command", "program", "helper", "path", "tocmd", "cccmd", "headercmd", "sendmailcmd", "smtpserver", "tunnel", "browser", "httpd", "modulepath"}, last) &&
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
