//go:build unix

package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/osfile/delicate"
	"adze/internal/sandbox/proc/shim/namespace"
)

// home describes the users' places as a command sees them: hollow folders, empty except for the
// paths shown in them.
type home struct {
	hidden       []string      // without links, outermost first
	files        []string      // in the root folder; empty for the command
	visiblePaths []visiblePath // in hollow folders
	links        []link
	locked       []string // read only, in shown writable places
	masked       []string // in shown places; empty for the command
	byUser       []string // shown by the user
}

type visiblePath struct {
	path     string
	copyPath string // path of a copy, or "" for the path itself
	writable bool
	git      bool // the copy of git's configuration
}

// link is a symbolic link on the way to a shown path.
type link struct{ path, target string }

// systemTops lists the system's own folders below /. All others may hold user data: homes, drives,
// other projects.
func systemTops() []string {
	return []string{"bin", "boot", "dev", "etc", "gnu", "lib", "lib32", "lib64", "libx32", "nix", "opt", "proc", "run", "sbin", "snap", "sys", "tmp", "usr", "var",
		"Applications", "Library", "System", "cores", "private"}
}

// systemVars lists the system's folders below /var. The others hold mail, queued jobs, backups, web
// sites.
func systemVars() []string {
	return []string{"cache", "db", "empty", "folders", "lib", "local", "lock", "log", "opt", "run", "select", "tmp"}
}

// look determines the hollow folders and the paths shown in them.
func (p *plan) look(s *Sandbox) home {
	v := &viewer{plan: p, sandbox: s, read: slices.Clone(s.o.Read), write: slices.Clone(s.o.Write)}
	if rules := s.o.Rules; rules != nil {
		v.read, v.write = append(v.read, rules.Allowed(false)...), append(v.write, rules.Allowed(true)...)
	}
	v.empty()
	v.fromUser()
	for _, word := range p.command.UserWords {
		v.program(word)
	}
	v.places()
	if p.live != "" {
		v.show(p.elsewhere)
	}
	v.worktrees()
	v.show(p.goModules(goSettings(p.lookup("HOME"))))
	v.settings()
	v.tidy()
	return v.home
}

type viewer struct {
	home
	plan        *plan
	sandbox     *Sandbox
	read, write []string // shown by the user
}

func (v *viewer) empty() {
	add := func(path string) {
		if !isWithin(path, v.plan.workspace.path) && !v.covered(path) && !slices.ContainsFunc(v.plan.private, func(dir string) bool { return isWithin(path, dir) }) {
			v.hidden = append(v.hidden, path)
		}
	}
	for _, top := range []struct {
		dir    string
		system []string
	}{{"/", systemTops()}, {"/var", systemVars()}} {
		entries, _ := os.ReadDir(top.dir)
		for _, e := range entries {
			path := filepath.Join(top.dir, e.Name())
			switch {
			case slices.Contains(top.system, e.Name()):
			case e.IsDir():
				add(path)
			case e.Type().IsRegular() && top.dir == "/":
				v.files = append(v.files, path)
			}
		}
	}
	if at := v.sandbox.o.Home; at != "" && at != "/" && !ofSystem(at) {
		if real, ok := realOf(at); ok {
			add(real) // inside another hollow folder it is kept for its own sake
			if !slices.Contains(v.hidden, real) && !isWithin(real, v.plan.workspace.path) {
				v.hidden = append(v.hidden, real)
			}
		}
	}
	slices.Sort(v.hidden)
}

// ofSystem reports whether path is a folder of system programs, which some users have as their
// home.
func ofSystem(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return slices.Contains(systemTops(), first) && first != "var" && first != "opt" && first != "tmp" && first != "run" && first != "private"
}

func (h *home) covered(path string) bool {
	return slices.ContainsFunc(h.hidden, func(dir string) bool { return isWithin(path, dir) })
}

func (h *home) visible(path string) bool {
	return slices.ContainsFunc(h.visiblePaths, func(s visiblePath) bool { return isWithin(path, s.path) })
}

// opened reports whether a path lies in a shown, writable place.
func (h *home) opened(path string) bool {
	return slices.ContainsFunc(h.visiblePaths, func(s visiblePath) bool { return s.writable && isWithin(path, s.path) })
}

func (h *home) shownByUser(dir string) bool {
	return slices.ContainsFunc(h.byUser, func(at string) bool { return isWithin(dir, at) })
}

// show shows a path and the links on the way to it. It reports whether the path exists and may be
// shown: a path that contains the home, the workspace or a hollow folder may not.
func (v *viewer) show(path string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	real, ok := realOf(filepath.Clean(path))
	if !ok {
		return false
	}
	v.way(filepath.Clean(path))
	if !v.covered(real) && !slices.ContainsFunc(v.plan.private, func(dir string) bool { return real != dir && isWithin(real, dir) }) {
		return true // already visible
	}
	if v.around(real) {
		return false
	}
	if !v.visible(real) {
		v.visiblePaths = append(v.visiblePaths, visiblePath{path: real})
	}
	return true
}

// way shows a path's links in hollow folders.
func (v *viewer) way(path string) {
	for range 8 { // links may lead to links
		next, ok := v.crosses(path)
		if !ok {
			return
		}
		path = next
	}
}

// crosses shows a path's first link and returns the path behind it.
func (v *viewer) crosses(path string) (behind string, ok bool) {
	at := ""
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		at += "/" + step
		if !isLink(at) {
			continue
		}
		target, err := os.Readlink(at)
		if err != nil {
			return "", false
		}
		l := link{at, target}
		if v.covered(at) && !slices.Contains(v.links, l) {
			v.links = append(v.links, l)
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(at), target)
		}
		return filepath.Clean(target + strings.TrimPrefix(path, at)), true
	}
	return "", false
}

// tidy removes duplicates, and links inside shown folders.
func (v *viewer) tidy() {
	slices.SortStableFunc(v.visiblePaths, func(a, b visiblePath) int { return strings.Compare(a.path, b.path) })
	var out []visiblePath
	for _, s := range v.visiblePaths {
		if s.copyPath == "" && !s.writable && slices.ContainsFunc(out, func(o visiblePath) bool { return o.copyPath == "" && isWithin(s.path, o.path) }) || isWithin(s.path, v.plan.workspace.path) {
			continue
		}
		out = append(out, s)
	}
	v.visiblePaths = out
	v.links = slices.DeleteFunc(v.links, func(l link) bool { return v.visible(l.path) || isWithin(l.path, v.plan.workspace.path) })
}

func (h *home) mounts() (out []namespace.Mount) {
	for _, path := range h.hidden {
		out = append(out, namespace.Mount{Kind: namespace.EmptyFolder, Path: path})
	}
	for _, path := range h.files {
		out = append(out, namespace.Mount{Kind: namespace.Empty, Path: path})
	}
	for _, s := range h.visiblePaths {
		m := namespace.Mount{Kind: namespace.ReadOnly, Path: s.path, Source: s.path}
		if s.copyPath != "" {
			m.Source = s.copyPath
		}
		if s.writable {
			m.Kind = namespace.Writable
		}
		out = append(out, m)
	}
	for _, l := range h.links {
		out = append(out, namespace.Mount{Kind: namespace.Link, Path: l.path, Source: l.target})
	}
	for _, path := range h.masked {
		out = append(out, namespace.Mount{Kind: namespace.Empty, Path: path})
	}
	for _, path := range h.locked {
		out = append(out, namespace.Mount{Kind: namespace.Locked, Path: path})
	}
	return out
}

// reach returns the readable and writable paths below hollow folders, for means without mounts.
// There, copies have paths in adze's state.
func (h *home) reach() (read, write []string) {
	for _, s := range h.visiblePaths {
		switch {
		case s.writable:
			write = append(write, s.path)
		case s.copyPath != "":
			read = append(read, s.copyPath)
		default:
			read = append(read, s.path)
		}
	}
	return read, write
}

// gitEnv points git to the copy of the user's configuration, for means without mounts.
func (h *home) gitEnv() []string {
	for _, s := range h.visiblePaths {
		if s.copyPath != "" && s.git {
			return []string{"GIT_CONFIG_GLOBAL=" + s.copyPath}
		}
	}
	return []string{"GIT_CONFIG_GLOBAL=/dev/null"}
}

// places shows the home's toolchains, even those not on PATH, because a command may add them, and
// the places named by variables. For folders on PATH it also shows the rest of their installation
// and the targets of their links.
func (v *viewer) places() {
	if home := v.sandbox.o.Home; home != "" {
		for _, name := range toolchainFolders() {
			v.show(filepath.Join(home, name))
		}
		v.targets(filepath.Join(home, ".local/bin"))
	}
	for _, name := range placeVariables() {
		for _, path := range filepath.SplitList(v.plan.lookup(name)) {
			if v.inHollow(path) && filepath.Base(path) != ".dotnet" && v.show(path) && name == "PATH" {
				v.installation(path)
				v.targets(path)
			}
		}
	}
}

// placeVariables lists variables that name places of programs, libraries and certificates. Some
// hold several.
func placeVariables() []string {
	return []string{"PATH", "PYTHONPATH", "NODE_PATH", "GEM_PATH", "PERL5LIB", "RUBYLIB", "LIBRARY_PATH", "CPATH", "PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH", "CLASSPATH", "MANPATH",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NIX_SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT", "GIT_SSL_CAINFO", "CARGO_HTTP_CAINFO", "PIP_FIND_LINKS",
		"NVM_DIR", "FNM_DIR", "VOLTA_HOME", "N_PREFIX", "PYENV_ROOT", "RYE_HOME", "VIRTUAL_ENV", "CONDA_PREFIX", "PIPX_HOME", "POETRY_HOME", "PYTHONUSERBASE", "UV_PYTHON_INSTALL_DIR", "UV_TOOL_DIR",
		"RUSTUP_HOME", "GOROOT", "GOENV_ROOT", "RBENV_ROOT", "GEM_HOME", "SDKMAN_DIR", "JENV_ROOT", "JAVA_HOME", "M2_HOME", "MAVEN_HOME", "GRADLE_HOME", "BUN_INSTALL", "DENO_INSTALL", "PNPM_HOME", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR",
		"DOTNET_ROOT", "ANDROID_HOME", "ANDROID_SDK_ROOT", "FLUTTER_ROOT", "OPAMROOT", "PHPENV_ROOT", "HOMEBREW_PREFIX", "npm_config_prefix", "NPM_CONFIG_PREFIX"}
}

func (v *viewer) inHollow(path string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	real, ok := realOf(filepath.Clean(path))
	return ok && (v.covered(real) || v.covered(filepath.Clean(path)))
}

// installation shows the installation around a folder of programs: a known toolchain as a whole,
// otherwise the usual folders beside it. The parent may be a project, so nothing else in it is
// shown.
func (v *viewer) installation(dir string) {
	for _, known := range toolchainFolders() {
		if before, _, ok := strings.Cut(dir+"/", "/"+known+"/"); ok {
			v.show(before + "/" + known)
			return
		}
	}
	if name := filepath.Base(dir); name != "bin" && name != "sbin" && name != "shims" {
		return
	}
	at := filepath.Dir(dir)
	if real, ok := realOf(at); !ok || real == v.sandbox.o.Home || filepath.Base(at) == ".local" || filepath.Base(at) == ".cargo" {
		return
	}
	v.beside(at)
}

func (v *viewer) beside(at string) {
	has := func(name string) bool { return exists(filepath.Join(at, name)) }
	if has("go.env") || has("VERSION") && has("pkg") && has("src") { // go itself
		v.show(at)
		return
	}
	for _, name := range []string{"bin", "sbin", "lib", "lib32", "lib64", "libexec", "share", "include", "etc", "jre", "jmods", "conf", "boot", "plugins", "versions", "pyvenv.cfg", "conda-meta", "modules", "release"} {
		v.show(filepath.Join(at, name))
	}
}

const maxTargets = 200

func (v *viewer) targets(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries[:min(len(entries), maxTargets)] {
		path := filepath.Join(dir, e.Name())
		if e.Type() != fs.ModeSymlink {
			continue
		}
		real, ok := realOf(path)
		if !ok || !v.covered(real) || v.visible(real) {
			continue
		}
		v.installation(filepath.Dir(real))
		v.packages(real)
		v.show(real)
	}
}

// program shows a program or file named by the user's own command, with its package.
func (v *viewer) program(path string) {
	if !v.inHollow(path) {
		return
	}
	real, _ := realOf(filepath.Clean(path))
	v.show(path)
	v.installation(filepath.Dir(real))
	v.packages(real)
	dir := filepath.Dir(real)
	for range 4 {
		for _, name := range []string{"package.json", "pyproject.toml", "pyvenv.cfg"} {
			if exists(filepath.Join(dir, name)) {
				v.show(dir)
				return
			}
		}
		dir = filepath.Dir(dir)
	}
}

func (v *viewer) packages(real string) {
	if before, _, ok := strings.Cut(real, "/node_modules/"); ok {
		v.show(before + "/node_modules")
	}
}

// toolchainFolders lists home folders in which installers keep programs and no secrets.
func toolchainFolders() []string {
	return []string{
		".nvm", ".fnm", ".local/share/fnm", ".volta", ".nodenv", ".npm-global", ".npm-packages", ".yarn/bin", ".config/yarn/global", ".local/share/pnpm", ".bun", ".deno",
		".pyenv", ".rye", ".local/share/uv", ".local/share/rye", ".local/pipx", ".local/share/pipx", ".local/share/pypoetry", ".poetry", ".virtualenvs", ".local/share/virtualenvs", ".local/share/hatch",
		"miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", ".local/lib", ".local/bin", ".local/include", ".local/opt",
		".rustup", ".cargo/bin", ".cargo/env", "sdk", ".goenv", ".gvm", ".rbenv", ".rvm", ".gem/ruby", ".local/share/gem",
		".sdkman", ".jenv", ".jabba", ".m2/wrapper", ".m2/repository", ".gradle/wrapper", ".gradle/caches/modules-2", ".nuget/packages",
		".dotnet/dotnet", ".dotnet/sdk", ".dotnet/shared", ".dotnet/host", ".dotnet/packs", ".dotnet/templates", ".dotnet/tools", ".dotnet/store", ".dotnet/sdk-manifests", ".dotnet/metadata", ".dotnet/library-packs", // developer keys lie beside them
		".asdf", ".local/share/mise", ".phpenv", ".config/composer/vendor", ".composer/vendor", ".opam", ".ghcup", ".cabal/bin", ".juliaup", ".elan", ".zvm", ".swiftly", ".local/share/swiftly",
		".kerl", ".luarocks", ".nix-profile", ".local/state/nix/profiles", ".guix-profile", ".linuxbrew", "Android/Sdk", ".platformio", ".espressif", ".terminfo",
	}
}

func (v *viewer) fromUser() {
	for _, path := range v.read {
		v.show(path)
	}
	for _, path := range v.write {
		v.open(path)
	}
	for _, s := range v.visiblePaths {
		v.home.byUser = append(v.home.byUser, s.path)
	}
	if v.sandbox.o.Rules == nil {
		return
	}
	for _, secret := range v.sandbox.o.Rules.Secret() {
		if real, ok := realOf(secret); ok && slices.ContainsFunc(v.visiblePaths, func(s visiblePath) bool { return s.path != real && isWithin(real, s.path) }) &&
			!slices.ContainsFunc(v.visiblePaths, func(s visiblePath) bool { return s.path == real }) {
			v.masked = append(v.masked, real)
		}
	}
}

// open makes a path writable, except for places that other programs act on.
func (v *viewer) open(path string) {
	real, ok := realOf(filepath.Clean(path))
	if !ok || !filepath.IsAbs(path) || isWithin(real, v.plan.workspace.path) || v.around(real) || matchesAny(v.plan.secrets, real, false) || slices.ContainsFunc(v.plan.private, func(dir string) bool { return isWithin(dir, real) }) {
		return
	}
	v.way(filepath.Clean(path))
	v.visiblePaths = append(v.visiblePaths, visiblePath{path: real, writable: true})
	v.locked = append(v.locked, present(real, append(delicate.Spelled(delicate.Top), ".git"))...)
	for _, at := range present(v.sandbox.o.Home, delicate.Spelled(delicate.Home)) {
		if at != real && isWithin(at, real) && !slices.Contains(v.locked, at) {
			v.locked = append(v.locked, at)
		}
	}
}

// around reports whether a place contains the workspace, the home or another hollow folder.
func (v *viewer) around(path string) bool {
	return slices.ContainsFunc(append([]string{v.plan.workspace.path, v.sandbox.o.Home}, v.hidden...), func(inner string) bool { return inner != "" && isWithin(inner, path) })
}

const maxWorktrees = 64

// worktrees shows the .git files of the work trees linked to this repository, and nothing else
// there: git prunes a work tree whose file is missing.
func (v *viewer) worktrees() {
	for _, dir := range []string{filepath.Join(v.plan.workspace.path, ".git"), v.plan.elsewhere} {
		admin := filepath.Join(dir, "worktrees")
		entries, _ := os.ReadDir(admin)
		for _, e := range entries[:min(len(entries), maxWorktrees)] {
			name := e.Name()
			at, ok := pointer(filepath.Join(admin, name, "gitdir"), "", admin)
			if !ok || filepath.Base(at) != ".git" || isWithin(at, v.plan.workspace.path) {
				continue
			}
			if back, ok := pointer(at, "gitdir: ", filepath.Dir(at)); ok && back == filepath.Join(admin, name) {
				v.show(at)
			}
		}
	}
}

func present(dir string, names []string) (out []string) {
	if dir == "" {
		return nil
	}
	for _, name := range names {
		if at := filepath.Join(dir, name); exists(at) {
			out = append(out, at)
		}
	}
	return out
}
