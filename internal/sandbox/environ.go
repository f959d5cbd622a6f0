//go:build unix

package sandbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// insideCache is where a command finds its caches, which lie with adze's state outside.
const insideCache = "/run/adze/cache"

// insideOwn is where a command finds its own folder (proc.Command.OwnDir), which may lie with
// adze's state outside, where no command sees anything.
const insideOwn = "/run/adze/own"

// ownInside is that folder for means that mount; empty where the command has none.
func (p *plan) ownInside() string {
	if p.command.OwnDir {
		return insideOwn
	}
	return ""
}

// own is the command's own folder for means that mount nothing.
func (p *plan) own() []string {
	if p.command.OwnDir {
		return []string{p.command.Dir}
	}
	return nil
}

// cacheDir is where the caches of commands in a workspace are kept. They are not the user's: what
// a command leaves there runs again, and outside nobody must be hit by it. Nor are they another
// workspace's.
func cacheDir(state, workspace string) string {
	sum := sha256.Sum256([]byte(workspace))
	return filepath.Join(state, "sandbox", "cache", hex.EncodeToString(sum[:8]))
}

// Forget removes what is kept for commands in a workspace that is no more: their caches and private
// views. It must not be called while an adze works there.
func Forget(state, workspace string) error {
	cache := cacheDir(state, workspace)
	return errors.Join(os.RemoveAll(cache), os.RemoveAll(cache+".lock"), os.RemoveAll(cache+".layers.lock"), os.RemoveAll(viewsDir(state, workspace)))
}

// outward are variables by which programs reach what is not there: agents, screens, buses, daemons.
func outward() []string {
	return []string{"SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_CONNECTION", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY",
		"WAYLAND_DISPLAY", "XAUTHORITY", "DOCKER_HOST", "CONTAINER_HOST", "KUBECONFIG", "TMUX", "STY", "VSCODE_IPC_HOOK_CLI", "VSCODE_GIT_IPC_HANDLE",
		"TMPDIR", "TEMP", "TMP"}
}

// cacheTable lists where build tools keep what can be made or downloaded again: the variable that
// names the folder, its place in the home otherwise, and its place for commands. Of tools that keep
// credentials or programs beside it, only parts are listed.
func cacheTable() []struct{ variable, home, below, name string } {
	return []struct{ variable, home, below, name string }{
		{"GOCACHE", ".cache/go-build", "", "go-build"},
		{"GOMODCACHE", "go/pkg/mod", "", "go-mod"},
		{"npm_config_cache", ".npm", "_cacache", "npm/_cacache"},
		{"PIP_CACHE_DIR", ".cache/pip", "", "pip"},
		{"UV_CACHE_DIR", ".cache/uv", "", "uv"},
		{"CARGO_HOME", ".cargo", "registry", "cargo/registry"},
		{"CARGO_HOME", ".cargo", "git", "cargo/git"},
		{"YARN_CACHE_FOLDER", ".cache/yarn", "", "yarn"},
		{"BUN_INSTALL_CACHE_DIR", ".bun/install/cache", "", "bun"},
		{"DENO_DIR", ".cache/deno", "", "deno"},
		{"CCACHE_DIR", ".cache/ccache", "", "ccache"},
		{"GRADLE_USER_HOME", ".gradle", "caches", "gradle/caches"},
		{"GRADLE_USER_HOME", ".gradle", "wrapper", "gradle/wrapper"},
		{"", ".m2/repository", "", "m2"},
		{"NUGET_PACKAGES", ".nuget/packages", "", "nuget"},
		{"", ".local/share/pnpm/store", "", "pnpm"},
		{"", ".cache/node", "", "node"},
		{"", ".cache/pypoetry", "", "pypoetry"},
		{"", ".cache/golangci-lint", "", "golangci-lint"},
		{"", ".cache/ms-playwright", "", "ms-playwright"},
		{"", ".cache/puppeteer", "", "puppeteer"},
		{"", ".cache/Cypress", "", "Cypress"},
	}
}

// usesPnpm reports a command that names pnpm, or a workspace whose packages pnpm locks.
func (p *plan) usesPnpm() bool {
	return slices.ContainsFunc(p.command.Argv, func(word string) bool { return strings.Contains(word, "pnpm") }) ||
		there(filepath.Join(p.workspace.path, "pnpm-lock.yaml"))
}

// environ is the command's environment with private caches; modules that the user has are read
// from theirs.
func (p *plan) environ() []string { return p.environAt(insideCache, "/tmp") }

func (p *plan) environAt(cache, tmp string) []string {
	own := map[string]string{
		"TMPDIR": tmp, "ADZE_SANDBOX": "1", "XDG_CACHE_HOME": cache, "BUNDLE_USER_HOME": cache + "/bundle", "DOTNET_CLI_HOME": cache + "/dotnet",
		"COMPOSER_HOME": cache + "/composer", "GEM_SPEC_CACHE": cache + "/gem", "POETRY_VIRTUALENVS_PATH": cache + "/virtualenvs",
	}
	for _, c := range cacheTable() {
		if c.variable != "" {
			at, _, _ := strings.Cut(c.name, "/")
			own[c.variable] = cache + "/" + at
		}
	}
	if p.usesPnpm() { // its store lies in no cache folder; npm warns of a setting that it does not know
		own["npm_config_store_dir"], own["pnpm_config_store_dir"] = cache+"/pnpm", cache+"/pnpm"
	}
	p.readOn(own, cache)
	set := goSettings(p.lookup("HOME"))
	if proxy := p.goProxy(set); proxy != "" {
		own["GOPROXY"] = proxy
	}
	if slices.Contains(p.missing, filepath.Join(p.workspace.path, ".git")) {
		// go takes the empty folder that stands there for a repository and fails to ask git about
		// it.
		own["GOFLAGS"] = strings.TrimSpace(cmp.Or(p.lookup("GOFLAGS"), set["GOFLAGS"]) + " -buildvcs=false")
	}
	var out []string
	for _, kv := range p.command.Env {
		name, _, _ := strings.Cut(kv, "=")
		if _, ours := own[name]; !ours && !slices.Contains(outward(), name) {
			out = append(out, kv)
		}
	}
	for name, value := range own {
		out = append(out, name+"="+value)
	}
	slices.Sort(out[len(out)-len(own):])
	return out
}

// readOn lets tools take what the user's own caches hold, which they cannot write to.
func (p *plan) readOn(own map[string]string, cache string) {
	home := p.lookup("HOME")
	shown := func(name string) (string, bool) {
		real, ok := realOf(filepath.Join(home, name))
		return real, ok && home != ""
	}
	if at, ok := shown(".gradle/caches/modules-2"); ok {
		own["GRADLE_RO_DEP_CACHE"] = filepath.Dir(at)
	}
	if at, ok := shown(".nuget/packages"); ok {
		own["NUGET_FALLBACK_PACKAGES"] = at
	}
	if at, ok := shown(".rustup"); ok && p.lookup("RUSTUP_HOME") == "" {
		own["RUSTUP_HOME"] = at
	}
	repository := "-Dmaven.repo.local=" + cache + "/m2"
	if at, ok := shown(".m2/repository"); ok { // before Maven 3.9 that alone is used, which cannot be written to
		own["MAVEN_ARGS"] = strings.TrimSpace(p.lookup("MAVEN_ARGS") + " " + repository + " -Dmaven.repo.local.tail=" + at)
	} else {
		own["MAVEN_OPTS"] = strings.TrimSpace(p.lookup("MAVEN_OPTS") + " " + repository)
	}
}

// goProxy lets go take modules out of the user's module cache, which it cannot write to, and asks
// further where a module is not there (https://go.dev/ref/mod#goproxy-protocol).
func (p *plan) goProxy(set map[string]string) string {
	real := p.goModules(set)
	if real == "" || strings.ContainsAny(real, ",|%?# ") {
		return ""
	}
	return "file://" + real + "," + cmp.Or(p.lookup("GOPROXY"), set["GOPROXY"], "direct")
}

// goModules is the folder with the modules that go has downloaded for the user; empty where there
// is none.
func (p *plan) goModules(set map[string]string) string {
	mods := cmp.Or(p.lookup("GOMODCACHE"), set["GOMODCACHE"])
	if mods == "" {
		root, _, _ := strings.Cut(cmp.Or(p.lookup("GOPATH"), set["GOPATH"], filepath.Join(p.lookup("HOME"), "go")), string(filepath.ListSeparator))
		mods = filepath.Join(root, "pkg", "mod")
	}
	if !filepath.IsAbs(mods) {
		return ""
	}
	real, _ := realOf(filepath.Join(mods, "cache", "download"))
	return real
}

// goSettings reads what go env -w has written.
func goSettings(home string) map[string]string {
	out := map[string]string{}
	data, err := os.ReadFile(filepath.Join(home, ".config", "go", "env"))
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			out[name] = value
		}
	}
	return out
}

func (p *plan) lookup(name string) string {
	for _, kv := range slices.Backward(p.command.Env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}
