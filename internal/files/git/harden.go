package git

import (
	"context"
	"slices"
	"strings"

	"adze/internal/sandbox/proc"
)

// safeOptions stand before every subcommand. A value on the command line wins over every file,
// included ones too. /dev/null as a folder holds no hook; "false" is a program that fails.
func safeOptions() []string {
	options := []string{"--no-pager", "--no-optional-locks", "--literal-pathspecs"}
	for _, kv := range []string{
		"core.fsmonitor=false", "core.hooksPath=/dev/null", "core.untrackedCache=false",
		"core.pager=cat", "core.editor=false", "sequence.editor=false", "core.askPass=", "credential.helper=",
		"core.sshCommand=false", "core.gitProxy=", "core.alternateRefsCommand=false", "protocol.allow=never", "protocol.ext.allow=never",
		"gpg.program=false", "gpg.openpgp.program=false", "gpg.x509.program=false", "gpg.ssh.program=false",
		"gpg.ssh.defaultKeyCommand=false", "log.showSignature=false", "commit.gpgSign=false", "tag.gpgSign=false",
		"safe.bareRepository=explicit", "gc.auto=0", "maintenance.auto=false", "submodule.recurse=false",
		"core.quotePath=false", "color.ui=false", "diff.orderFile=/dev/null",
	} {
		options = append(options, "-c", kv)
	}
	return options
}

// quietSettings are those of safeOptions, as names and values.
func quietSettings() (settings [][2]string) {
	for _, option := range safeOptions() {
		if key, value, ok := strings.Cut(option, "="); ok {
			settings = append(settings, [2]string{key, value})
		}
	}
	return append(settings, [2]string{"status.submoduleSummary", "false"}, [2]string{"diff.ignoreSubmodules", "dirty"})
}

// Quiet is an environment in which git only looks: of what a user has set for git nothing counts
// that names a program or a place, and nothing is fetched, locked or asked.
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

// withoutFilters overrides all that a driver can run. A filter whose commands are empty changes
// nothing, and one that is not required may.
func withoutFilters(drivers []string) (options []string) {
	for _, d := range drivers {
		for _, setting := range []string{".clean=", ".smudge=", ".process=", ".required=false"} {
			options = append(options, "-c", "filter."+d+setting)
		}
	}
	return options
}

// environ is what git sees: of the user's environment nothing that speaks to git, and no program
// folder inside the work tree. With no allowed protocol, git cannot fetch the objects that a
// partial clone lacks, which would start the programs that its remote names.
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

// maxFilters bounds the drivers of a repository. People have one or two.
const maxFilters = 100

// listFilters names every content filter that the repository or the user has configured.
func (r *Repo) listFilters(ctx context.Context) ([]string, error) {
	found := map[string]bool{}
	err := r.records(ctx, func(name string) {
		// The section and the last word come in lower case; the driver between them as it is
		// written.
		if driver, ok := filterDriver(name); ok && len(found) <= maxFilters {
			found[driver] = true
		}
	}, "config", "--list", "--name-only", "-z")
	if err != nil {
		return nil, err
	}
	var drivers []string
	for d := range found {
		// The command line cannot name it, because a setting ends at its first =.
		if strings.Contains(d, "=") {
			return nil, fail(CodeInvalid, nil, "the repository configures a filter with = in its name (%q), which cannot be switched off; look with bash", d)
		}
		drivers = append(drivers, d)
	}
	if len(drivers) > maxFilters {
		return nil, fail(CodeInvalid, nil, "the repository configures more than %d filters, which cannot all be switched off; look with bash", maxFilters)
	}
	slices.Sort(drivers)
	return drivers, nil
}

// filterDriver is x of "filter.x.clean".
func filterDriver(name string) (string, bool) {
	rest, ok := strings.CutPrefix(name, "filter.")
	end := strings.LastIndexByte(rest, '.')
	if !ok || end < 0 {
		return "", false
	}
	return rest[:end], true
}
