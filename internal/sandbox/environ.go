package sandbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// insideCache is where a command finds its caches, which lie with adze's state outside.
const insideCache = "/run/adze/cache"

// cacheDir is where the caches of commands in a workspace are kept. They are not the person's: what a command leaves there
// runs again, and outside nobody must be hit by it. Nor are they another workspace's.
func cacheDir(state, workspace string) string {
	sum := sha256.Sum256([]byte(workspace))
	return filepath.Join(state, "sandbox", "cache", hex.EncodeToString(sum[:8]))
}

// outward are variables by which programs reach what is not there: agents, screens, buses, daemons.
func outward() []string {
	return []string{"SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_CONNECTION", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY",
		"WAYLAND_DISPLAY", "XAUTHORITY", "DOCKER_HOST", "CONTAINER_HOST", "KUBECONFIG", "TMUX", "STY", "VSCODE_IPC_HOOK_CLI", "VSCODE_GIT_IPC_HANDLE",
		"TMPDIR", "TEMP", "TMP"}
}

// environ is the command's environment with private caches; modules that the person has are read from theirs.
func (p *plan) environ() []string { return p.environAt(insideCache, "/tmp") }

func (p *plan) environAt(cache, tmp string) []string {
	own := map[string]string{
		"TMPDIR": tmp, "ADZE_SANDBOX": "1", "XDG_CACHE_HOME": cache, "GOCACHE": cache + "/go-build", "GOMODCACHE": cache + "/go-mod", "npm_config_cache": cache + "/npm",
		"PIP_CACHE_DIR": cache + "/pip", "UV_CACHE_DIR": cache + "/uv", "CARGO_HOME": cache + "/cargo", "YARN_CACHE_FOLDER": cache + "/yarn",
	}
	set := goSettings(p.lookup("HOME"))
	if proxy := p.goProxy(set); proxy != "" {
		own["GOPROXY"] = proxy
	}
	if slices.Contains(p.missing, filepath.Join(p.workspace.path, ".git")) {
		// go takes the empty folder that stands there for a repository and fails to ask git about it.
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

// goProxy lets go take modules out of the person's module cache, which it cannot write to, and asks further where a module
// is not there (https://go.dev/ref/mod#goproxy-protocol).
func (p *plan) goProxy(set map[string]string) string {
	mods := cmp.Or(p.lookup("GOMODCACHE"), set["GOMODCACHE"])
	if mods == "" {
		root, _, _ := strings.Cut(cmp.Or(p.lookup("GOPATH"), set["GOPATH"], filepath.Join(p.lookup("HOME"), "go")), string(filepath.ListSeparator))
		mods = filepath.Join(root, "pkg", "mod")
	}
	real, ok := "", filepath.IsAbs(mods)
	if ok {
		real, ok = p.glance.Real(filepath.Join(mods, "cache", "download"))
	}
	if !ok || strings.ContainsAny(real, ",|%?# ") {
		return ""
	}
	return "file://" + real + "," + cmp.Or(p.lookup("GOPROXY"), set["GOPROXY"], "direct")
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
