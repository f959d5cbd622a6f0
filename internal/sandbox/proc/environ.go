package proc

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/text/redact"
)

// EnvPolicy says what of a user's environment a command gets. Names are compared in upper case; a
// trailing * matches any rest.
type EnvPolicy struct {
	Allow   []string // names to pass although they look like secrets or injection, or name a login
	Only    []string // when not empty, nothing else passes
	Secrets []string // further names to remove, the providers' keys; Allow does not bring them back
	Set     []string // NAME=value, added last
}

// fixed is what every command gets: no pager, no editor, no question, no colour, and a way to tell
// that adze runs it. A command has no terminal, so that an editor or a question for a password
// would wait unseen.
func fixed() []string {
	out := []string{"EDITOR=" + noEditor, "VISUAL=" + noEditor, "GIT_EDITOR=" + gitEditor("core.editor"), "GIT_SEQUENCE_EDITOR=" + gitEditor("sequence.editor"),
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS_REQUIRE=never", "SUDO_ASKPASS=/bin/false", "GCM_INTERACTIVE=never", "AWS_PAGER=", "NO_COLOR=1", "ADZE=1"}
	for _, name := range []string{"PAGER", "GIT_PAGER", "MANPAGER", "SYSTEMD_PAGER", "GH_PAGER", "BAT_PAGER", "DELTA_PAGER"} {
		out = append(out, name+"=cat")
	}
	return out
}

// noEditor is a command line that fails at once in the place of an editor. Programs run it by a
// shell, with the file's name added, and git shows it where it tells of the failure.
const noEditor = `echo "adze: no editor can be opened here; say it in the command, such as -m TEXT or --no-edit, or put GIT_EDITOR=true before git to keep the text" >&2; false`

// gitEditor is noEditor for git, which asks its variables first: an editor that the command itself
// names with git -c SETTING=… is no person's, and is run.
func gitEditor(setting string) string {
	return `e() { case $GIT_CONFIG_PARAMETERS in *` + setting + `*) eval "$(git config ` + setting + `) \"\$@\"";; *) ` + noEditor + `;; esac; }; e`
}

// Environ returns base without secrets and without what makes loaders, interpreters or git run
// other programs, with absolute folders only in PATH, and with the variables every command gets. Of
// a repeated name the last counts.
func Environ(base []string, p EnvPolicy) []string {
	set := append(fixed(), p.Set...)
	taken := make(map[string]bool, len(base)+len(set))
	var out []string
	for _, kv := range slices.Backward(append(slices.Clip(base), set...)) {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" || taken[variable(name)] {
			continue
		}
		taken[variable(name)] = true
		if upper := strings.ToUpper(name); !slices.Contains(set, kv) && !p.passes(name, value) {
			if nowhere(upper) == "" || matches(p.Secrets, upper) || len(p.Only) > 0 {
				continue
			}
			kv = name + "=" + nowhere(upper)
		}
		if sameVariable(name, "PATH") {
			kv = name + "=" + absoluteOnly(value)
		}
		out = append(out, kv)
	}
	slices.Reverse(out)
	return out
}

// absoluteOnly drops the entries of a search path that mean another folder in every working
// directory: a workspace could put its own git there.
func absoluteOnly(path string) string {
	folders := slices.DeleteFunc(filepath.SplitList(path), func(f string) bool { return !filepath.IsAbs(f) })
	return strings.Join(folders, string(filepath.ListSeparator))
}

// OutsidePath drops the entries of a search path that lie in dir, which is free of links, or that
// are relative. Entries are followed where they are links; one that does not exist yet counts by
// its name.
func OutsidePath(path, dir string) string {
	folders := slices.DeleteFunc(filepath.SplitList(path), func(f string) bool { return !filepath.IsAbs(f) || Inside(f, dir) })
	return strings.Join(folders, string(filepath.ListSeparator))
}

// Inside reports whether a path, or where it leads, lies in dir, which is free of links.
func Inside(path, dir string) bool {
	for _, p := range []string{filepath.Clean(path), real(path)} {
		if rel, err := filepath.Rel(dir, p); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// real follows links as far as the path exists.
func real(path string) string {
	path = filepath.Clean(path)
	if path == filepath.Dir(path) {
		return path
	}
	at := filepath.Join(real(filepath.Dir(path)), filepath.Base(path))
	if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if found, err := filepath.EvalSymlinks(at); err == nil {
			return found
		}
	}
	return at
}

// Outside returns env with a search path that has no folder in dir.
func Outside(env []string, dir string) []string {
	out := slices.Clone(env)
	for i, kv := range out {
		if name, path, ok := strings.Cut(kv, "="); ok && sameVariable(name, "PATH") {
			out[i] = name + "=" + OutsidePath(path, dir)
		}
	}
	return out
}

// Before returns env with folders that are searched for programs before all others.
func Before(env, folders []string) []string {
	out := slices.Clone(env)
	for i, kv := range out {
		if name, path, ok := strings.Cut(kv, "="); ok && sameVariable(name, "PATH") {
			out[i] = name + "=" + strings.Join(append(slices.Clone(folders), path), string(filepath.ListSeparator))
		}
	}
	return out
}

// Within is the path of a program that env's PATH finds first in a folder within dir; "" for one
// outside.
func Within(program, dir string, env []string) string {
	path, err := LookPath(program, dir, env)
	if err != nil || strings.Contains(program, "/") || !Inside(filepath.Dir(path), dir) {
		return ""
	}
	return path
}

// Helper finds a program of the user's, such as their browser, by adze's own search path, and
// returns the environment to start it with. What lies in one of dirs, or where adze was started,
// counts for neither: a project would bring programs of its own.
func Helper(program string, dirs ...string) (path string, env []string, err error) {
	if here, err := os.Getwd(); err == nil {
		dirs = append(dirs, real(here))
	}
	env = os.Environ()
	home, _ := os.UserHomeDir() // empty is no folder
	for _, dir := range dirs {
		if dir != "/" && dir != real(home) { // all that is there is the user's own
			env = Outside(env, dir)
		}
	}
	path, err = LookPath(program, "/", env)
	return path, env, err
}

func (p EnvPolicy) passes(name, value string) bool {
	upper := strings.ToUpper(name)
	switch {
	case matches(p.Secrets, upper):
		return false
	case len(p.Only) > 0:
		return matches(p.Only, upper)
	case matches(p.Allow, upper):
		return true
	}
	return !redact.Name(upper) && !redact.Value(value) && !injects(upper) && nowhere(upper) == ""
}

// nowhere is what a variable is set to that names a login of the user at a cluster, a cloud or a
// registry; if empty, it names none. Without the variable a program would take the login that it
// uses by default, which may be the one where a mistake costs most. With a login that is not there
// it stops and says so.
func nowhere(name string) string {
	switch name {
	case "KUBECONFIG", "KUBE_CONFIG_PATH", "KUBE_CONFIG_PATHS", "AWS_CONFIG_FILE", "BOTO_CONFIG", "NETRC", "OCI_CLI_CONFIG_FILE":
		return "/dev/null"
	case "CLOUDSDK_CONFIG", "AZURE_CONFIG_DIR", "DOCKER_CONFIG":
		return "/dev/null/withheld"
	case "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_VAULT", "CLOUDSDK_ACTIVE_CONFIG_NAME", "CLOUDSDK_CORE_ACCOUNT", "OCI_CLI_PROFILE", "DOCKER_CONTEXT",
		"HELM_KUBECONTEXT", "KUBE_CTX", "DIGITALOCEAN_CONTEXT":
		return "withheld-by-adze"
	}
	return ""
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		p = strings.ToUpper(p)
		if prefix, ok := strings.CutSuffix(p, "*"); ok {
			return strings.HasPrefix(name, prefix)
		}
		return p == name
	})
}

// injects tells names that make a loader, an interpreter or git run or load something else.
func injects(name string) bool {
	for _, prefix := range []string{"LD_", "DYLD_", "BASH_FUNC_", "ADZE_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, suffix := range []string{"_OPTIONS", "_ASKPASS"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	switch name {
	case "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "IFS", "CDPATH", "GLOBIGNORE",
		"PERL5OPT", "PERL5DB", "RUBYOPT", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONHOME", "PYTHONBREAKPOINT",
		"LESSOPEN", "LESSCLOSE", "MANPAGER", "BROWSER", "GCONV_PATH", "HOSTALIASES", "LOCALDOMAIN",
		"RUSTC_WRAPPER", "ZDOTDIR", "DEBUGINFOD_URLS":
		return true
	}
	return strings.HasPrefix(name, "GIT_") && !plainGit(name)
}

// plainGit names the git variables that run nothing and redirect nothing.
func plainGit(name string) bool {
	for _, prefix := range []string{"GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_SSL_CA", "GIT_TRACE", "GIT_CEILING_DIRECTORIES"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "GIT_TERMINAL_PROMPT" || name == "GIT_OPTIONAL_LOCKS"
}
