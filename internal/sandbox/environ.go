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

// insideCache is the command's path of its caches, which lie in adze's state outside.
const insideCache = "/run/adze/cache"

// insideOwn is the command's path of its own folder (proc.Command.OwnDir), which may lie in adze's
// state, hidden from all commands.
const insideOwn = "/run/adze/own"

// ownInside returns insideOwn, or "" if the command has no folder of its own. It is for means that
// mount.
func (p *plan) ownInside() string {
	if p.command.OwnDir {
		return insideOwn
	}
	return ""
}

// own returns the command's own folder for means without mounts.
func (p *plan) own() []string {
	if p.command.OwnDir {
		return []string{p.command.Dir}
	}
	return nil
}

// cacheDir returns the folder of a workspace's command caches. They are separate from the user's
// and from other workspaces', because a command's cached output runs again and must not affect
// anyone outside.
func cacheDir(state, workspace string) string {
	sum := sha256.Sum256([]byte(workspace))
	return filepath.Join(state, "sandbox", "cache", hex.EncodeToString(sum[:8]))
}

// Forget removes the caches and private views of a deleted workspace. It must not run while an adze
// works there.
func Forget(state, workspace string) error {
	cache := cacheDir(state, workspace)
	return errors.Join(os.RemoveAll(cache), os.RemoveAll(cache+".lock"), os.RemoveAll(cache+".layers.lock"), os.RemoveAll(viewsDir(state, workspace)))
}

// outward lists variables for unreachable services: agents, screens, buses, daemons.
func outward() []string {
	return []string{"SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_CONNECTION", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY",
		"WAYLAND_DISPLAY", "XAUTHORITY", "DOCKER_HOST", "CONTAINER_HOST", "KUBECONFIG", "TMUX", "STY", "VSCODE_IPC_HOOK_CLI", "VSCODE_GIT_IPC_HANDLE",
		"TMPDIR", "TEMP", "TMP"}
}

// cacheTable lists the build tools' caches of downloads and build output: the variable that names
// the folder, its default place in the home, and its place for commands. For tools that keep
// credentials or programs beside their cache, it lists only parts.
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

// usesPnpm reports whether the command names pnpm or the workspace has pnpm's lock file.
func (p *plan) usesPnpm() bool {
	return slices.ContainsFunc(p.command.Argv, func(word string) bool { return strings.Contains(word, "pnpm") }) ||
		exists(filepath.Join(p.workspace.path, "pnpm-lock.yaml"))
}

// environ returns the command's environment with private caches. Go modules are still read from the
// user's cache.
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
	if p.usesPnpm() { // pnpm's store is in no cache folder; npm warns of this unknown setting
		own["npm_config_store_dir"], own["pnpm_config_store_dir"] = cache+"/pnpm", cache+"/pnpm"
	}
	p.readOn(own, cache)
	set := goSettings(p.lookup("HOME"))
	if proxy := p.goProxy(set); proxy != "" {
		own["GOPROXY"] = proxy
	}
	if slices.Contains(p.missing, filepath.Join(p.workspace.path, ".git")) {
		// go takes the empty placeholder folder for a repository and fails to ask git about it.
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

// readOn lets tools read the user's own caches, which stay read only.
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
	if at, ok := shown(".m2/repository"); ok { // before Maven 3.9 it would be the only repository, and it is read only
		own["MAVEN_ARGS"] = strings.TrimSpace(p.lookup("MAVEN_ARGS") + " " + repository + " -Dmaven.repo.local.tail=" + at)
	} else {
		own["MAVEN_OPTS"] = strings.TrimSpace(p.lookup("MAVEN_OPTS") + " " + repository)
	}
}

// goProxy makes go read modules from the user's read-only module cache first, then from the network
// (https://go.dev/ref/mod#goproxy-protocol).
func (p *plan) goProxy(set map[string]string) string {
	real := p.goModules(set)
	if real == "" || strings.ContainsAny(real, ",|%?# ") {
		return ""
	}
	return "file://" + real + "," + cmp.Or(p.lookup("GOPROXY"), set["GOPROXY"], "direct")
}

// goModules returns the user's module download cache, or "" if there is none.
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

// goSettings reads the settings written by go env -w.
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
