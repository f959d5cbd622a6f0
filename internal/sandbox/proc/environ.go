package proc

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/text/redact"
)

// EnvPolicy selects the user's variables that a command gets. Names are compared in upper case; a
// trailing * matches any rest.
type EnvPolicy struct {
	Allow   []string // names that pass even if they look like secrets or injection, or name a login
	Only    []string // if not empty, nothing else passes
	Secrets []string // more names to remove, the providers' keys; they win over Allow
	Set     []string // NAME=value, added last
}

// fixed returns the variables for every command: no pager, editor, prompt or color, and a mark for
// adze. Without a terminal, an editor or a password prompt would wait unseen.
func fixed() []string {
	out := []string{"EDITOR=" + noEditor, "VISUAL=" + noEditor, "GIT_EDITOR=" + gitEditor("core.editor"), "GIT_SEQUENCE_EDITOR=" + gitEditor("sequence.editor"),
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS_REQUIRE=never", "SUDO_ASKPASS=/bin/false", "GCM_INTERACTIVE=never", "AWS_PAGER=", "NO_COLOR=1", "ADZE=1"}
	for _, name := range []string{"PAGER", "GIT_PAGER", "MANPAGER", "SYSTEMD_PAGER", "GH_PAGER", "BAT_PAGER", "DELTA_PAGER"} {
		out = append(out, name+"=cat")
	}
	return out
}

// noEditor is a command line that replaces an editor and fails at once. Programs run it in a shell
// with the file's name added, and git prints it with the failure.
const noEditor = `echo "adze: no editor can be opened here; say it in the command, such as -m TEXT or --no-edit, or put GIT_EDITOR=true before git to keep the text" >&2; false`

// gitEditor is noEditor for git, which reads its variables before its settings. An editor set by
// the command itself with git -c SETTING=... is not interactive and runs.
func gitEditor(setting string) string {
	return `e() { case $GIT_CONFIG_PARAMETERS in *` + setting + `*) eval "$(git config ` + setting + `) \"\$@\"";; *) ` + noEditor + `;; esac; }; e`
}

// Environ returns base without secrets and without variables that make loaders, interpreters or git
// run other programs, with absolute folders only in PATH, and with the fixed variables. The last
// duplicate wins.
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

// absoluteOnly drops relative search path entries: a workspace could put its own git there.
func absoluteOnly(path string) string {
	folders := slices.DeleteFunc(filepath.SplitList(path), func(f string) bool { return !filepath.IsAbs(f) })
	return strings.Join(folders, string(filepath.ListSeparator))
}

// OutsidePath drops search path entries that are relative or lie in dir, which must be free of
// links. It resolves links in entries; a missing one counts by its name.
func OutsidePath(path, dir string) string {
	folders := slices.DeleteFunc(filepath.SplitList(path), func(f string) bool { return !filepath.IsAbs(f) || InDir(f, dir) })
	return strings.Join(folders, string(filepath.ListSeparator))
}

// InDir reports whether a path, or its target, lies in dir, which must be free of links.
func InDir(path, dir string) bool {
	for _, p := range []string{filepath.Clean(path), real(path)} {
		if rel, err := filepath.Rel(dir, p); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// real resolves links in a path's existing part.
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

// WithoutPathsIn returns env with a PATH without folders in dir.
func WithoutPathsIn(env []string, dir string) []string {
	out := slices.Clone(env)
	for i, kv := range out {
		if name, path, ok := strings.Cut(kv, "="); ok && sameVariable(name, "PATH") {
			out[i] = name + "=" + OutsidePath(path, dir)
		}
	}
	return out
}

// PrependPath returns env with folders at the start of PATH.
func PrependPath(env, folders []string) []string {
	out := slices.Clone(env)
	for i, kv := range out {
		if name, path, ok := strings.Cut(kv, "="); ok && sameVariable(name, "PATH") {
			out[i] = name + "=" + strings.Join(append(slices.Clone(folders), path), string(filepath.ListSeparator))
		}
	}
	return out
}

// ProgramIn returns a program's path if env's PATH finds it in a folder in dir, else "".
func ProgramIn(program, dir string, env []string) string {
	path, err := LookPath(program, dir, env)
	if err != nil || strings.Contains(program, "/") || !InDir(filepath.Dir(path), dir) {
		return ""
	}
	return path
}

// Helper finds one of the user's programs, such as their browser, in adze's own PATH and returns
// the environment for its start. It ignores folders in dirs and in the working directory, because a
// project could bring its own programs.
func Helper(program string, dirs ...string) (path string, env []string, err error) {
	if here, err := os.Getwd(); err == nil {
		dirs = append(dirs, real(here))
	}
	env = os.Environ()
	home, _ := os.UserHomeDir() // "" is not a folder
	for _, dir := range dirs {
		if dir != "/" && dir != real(home) { // everything in the home is the user's own
			env = WithoutPathsIn(env, dir)
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

// nowhere returns a value for a variable that selects the user's login at a cluster, a cloud or a
// registry, or "" for other variables. Without the variable a program would use its default login,
// possibly the one where mistakes cost most; with a nonexistent login it fails and reports that.
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

// injects reports whether a variable makes a loader, an interpreter or git run or load other code.
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

// plainGit reports whether a git variable neither runs nor redirects anything.
func plainGit(name string) bool {
	for _, prefix := range []string{"GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_SSL_CA", "GIT_TRACE", "GIT_CEILING_DIRECTORIES"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "GIT_TERMINAL_PROMPT" || name == "GIT_OPTIONAL_LOCKS"
}
