package git

import (
	"context"
	"slices"
	"strings"

	"adze/internal/sandbox/proc"
)

// safeOptions precede every subcommand. A command line value overrides every file, included ones
// too. /dev/null as the hooks folder contains no hooks; "false" is a program that fails.
func safeOptions() []string {
	options := []string{"--no-pager", "--no-optional-locks", "--literal-pathspecs"}
	for _, kv := range []string{
		"core.fsmonitor=false", "core.hooksPath=/dev/null", "core.untrackedCache=false",
		"core.pager=cat", "core.editor=false", "sequence.editor=false", "core.askPass=", "credential.helper=",
		"core.sshCommand=false", "core.gitProxy=", "core.alternateRefsCommand=false", "protocol.allow=never", "protocol.ext.allow=never",
		"gpg.program=false", "gpg.openpgp.program=false", "gpg.x509.program=false", "gpg.ssh.program=false",
		"gpg.ssh.defaultKeyCommand=false", "log.showSignature=false", "commit.gpgSign=false", "tag.gpgSign=false",
		"safe.bareRepository=explicit", "gc.auto=0", "maintenance.auto=false", "submodule.recurse=false",
		"core.quotePath=false", "color.ui=false", "diff.orderFile=/dev/null", "diff.autoRefreshIndex=false",
	} {
		options = append(options, "-c", kv)
	}
	return options
}

func quietSettings() (settings [][2]string) {
	for _, option := range safeOptions() {
		if key, value, ok := strings.Cut(option, "="); ok {
			settings = append(settings, [2]string{key, value})
		}
	}
	return append(settings, [2]string{"status.submoduleSummary", "false"}, [2]string{"diff.ignoreSubmodules", "dirty"})
}

// Quiet returns an environment in which git only reads: user settings that name a program or a
// location are ignored, and nothing is fetched, locked or prompted for.
func Quiet(env []string) []string {
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "GIT_") && name != "GIT_CEILING_DIRECTORIES" || name == "POSIXLY_CORRECT" {
			continue
		}
		out = append(out, kv)
	}
	return append(out, "GIT_OPTIONAL_LOCKS=0", "GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat",
		"GIT_EDITOR=false", "GIT_ASKPASS=false", "GIT_SSH_COMMAND=false")
}

// withoutNamed overrides programs under names chosen by the repository: configured hooks, and all
// commands of content filters. A filter with empty commands changes nothing, which git accepts only
// if the filter is not required.
func (r *Repo) withoutNamed() (options []string) {
	for _, name := range r.hooks {
		options = append(options, "-c", "hook."+name+".enabled=false")
	}
	for _, name := range r.filters {
		for _, setting := range []string{".clean=", ".smudge=", ".process=", ".required=false"} {
			options = append(options, "-c", "filter."+name+setting)
		}
	}
	return options
}

// environ returns git's environment: the user's without git variables and without program folders
// inside the worktree. Without an allowed protocol, git cannot fetch objects missing in a partial
// clone, which would start programs named by its remote.
func environ(base []string, dir string) []string {
	var out []string
	for _, kv := range base {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case strings.HasPrefix(name, "GIT_") && name != "GIT_CEILING_DIRECTORIES",
			strings.HasPrefix(name, "LC_"), name == "LANGUAGE", name == "PAGER", name == "EDITOR", name == "VISUAL", name == "SSH_ASKPASS":
			continue
		case name == "PATH":
			kv = "PATH=" + proc.OutsidePath(value, dir)
		}
		out = append(out, kv)
	}
	return append(out,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=1",
		"GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "PAGER=cat",
		"GIT_EDITOR=false", "GIT_ASKPASS=false", "GIT_SSH_COMMAND=false", "LC_ALL=C")
}

// listNamed finds the content filters and hooks configured by the repository or the user.
func (r *Repo) listNamed(ctx context.Context) error {
	all, err := r.settings(ctx, false)
	if err != nil {
		return err
	}
	r.filters, r.hooks = namedIn(all, "filter"), namedIn(all, "hook")
	for what, names := range map[string][]string{"filter": r.filters, "hook": r.hooks} {
		if len(names) > maxNamed {
			return fail(CodeInvalid, nil, "the repository configures more than %d %ss, which cannot all be switched off; look with bash", maxNamed, what)
		}
		// The command line cannot contain such a name, because a setting ends at its first =.
		if i := slices.IndexFunc(names, func(name string) bool { return strings.Contains(name, "=") }); i >= 0 {
			return fail(CodeInvalid, nil, "the repository configures a %s with = in its name (%q), which cannot be switched off; look with bash", what, names[i])
		}
	}
	return nil
}
