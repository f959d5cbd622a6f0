package proc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Isolated returns env for a program that starts without a question: it leads interpreters and
// package runners to no code in the folder dir, which must be free of links. It removes entries of
// search paths, and interpreters' settings, that are relative or lie in dir. Python searches
// neither the current folder nor the script's own (PYTHONSAFEPATH, since Python 3.11).
//
// words are the program's command line. A Python script named there outside dir still finds the
// modules beside it.
//
// PATH is unchanged; see WithoutPathsIn.
func Isolated(env []string, dir string, words ...string) []string {
	if dir == "" || dir == filepath.Dir(dir) { // nothing is outside it
		return append(slices.Clone(env), safePath)
	}
	var out []string
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "PYTHONSAFEPATH" || name == "PERL_USE_UNSAFE_INC":
			continue
		case searchPath(name):
			if value = OutsidePath(value, dir); value == "" {
				continue
			}
			kv = name + "=" + value
		case steers(name) && leadsInto(value, dir):
			continue
		}
		out = append(out, kv)
	}
	out = append(out, safePath)
	if beside := scriptFolders(words, dir, lookup(env, "HOME")); len(beside) > 0 {
		if old := lookup(out, "PYTHONPATH"); old != "" {
			beside = append(beside, old)
		}
		out = slices.DeleteFunc(out, func(kv string) bool { return strings.HasPrefix(kv, "PYTHONPATH=") })
		out = append(out, "PYTHONPATH="+strings.Join(beside, string(filepath.ListSeparator)))
	}
	return out
}

// OwnFolderEnv returns env for a program that starts in its own folder and needs nothing in dir. It
// is like Isolated, but Python may load modules beside its script, and no variable reveals the
// folder where adze was started.
func OwnFolderEnv(env []string, dir string) []string {
	return slices.DeleteFunc(Isolated(env, dir), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return name == "PYTHONSAFEPATH" || (name == "PWD" || name == "OLDPWD" || name == "INIT_CWD") && names(value, dir)
	})
}

// ConsentedEnv returns env for a project's program that the user allowed. It is like Isolated, but
// Python finds the project's module named in the command (python -m), which was shown and is
// pinned.
func ConsentedEnv(env []string, dir string, words ...string) []string {
	out := Isolated(env, dir, words...)
	for n, word := range words {
		if word == "-m" && n+1 < len(words) && module(dir, words[n+1]) {
			return slices.DeleteFunc(out, func(kv string) bool { return kv == safePath })
		}
	}
	return out
}

func module(dir, name string) bool {
	path := filepath.Join(dir, strings.ReplaceAll(strings.Trim(name, `"';`), ".", "/"))
	for _, path := range []string{path + ".py", filepath.Join(path, "__main__.py")} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// safePath keeps Python from adding the script's folder or the current one to its search path.
const safePath = "PYTHONSAFEPATH=1"

// searchPath reports whether a variable lists code folders for interpreters.
func searchPath(name string) bool {
	switch name {
	case "PYTHONPATH", "NODE_PATH", "RUBYLIB", "PERL5LIB", "PERLLIB", "GOPATH", "GEM_PATH", "CLASSPATH", "LUA_PATH", "LUA_CPATH", "PHP_INI_SCAN_DIR", "TCLLIBPATH",
		"GUILE_LOAD_PATH", "JULIA_LOAD_PATH", "ERL_LIBS", "FPATH", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS":
		return true
	}
	return false
}

// steers reports whether a variable leads an interpreter or a package runner to settings or code.
func steers(name string) bool {
	switch name {
	case "VIRTUAL_ENV", "CONDA_PREFIX", "GOFLAGS", "GOWORK", "GOMOD", "GOENV", "GOROOT", "GOBIN", "GOTOOLDIR", "GEM_HOME", "RUSTC", "RUSTFLAGS", "RUSTDOC", "RUSTFMT",
		"PHPRC", "MAKEFILES", "MAKEFLAGS", "GNUMAKEFLAGS", "MFLAGS", "JAVA_HOME", "M2_HOME", "OPENSSL_CONF", "OPENSSL_MODULES", "INPUTRC", "DIRENV_FILE", "ESLINT_USE_FLAT_CONFIG":
		return true
	}
	lower := strings.ToLower(name)
	for _, prefix := range []string{"npm_", "yarn_", "pnpm_", "corepack_", "bun_", "deno_", "uv_", "pip_", "pipx_", "poetry_", "bundle_", "cargo_", "rustup_",
		"composer_", "node_", "python", "ruby", "perl", "maven_", "gradle_", "mise_", "asdf_", "pyenv_", "rbenv_", "nodenv_", "prettier_"} {
		if strings.HasPrefix(lower, prefix) {
			return true
		}
	}
	return false
}

// leadsInto reports whether a value names a place in dir or a relative one.
func leadsInto(value, dir string) bool {
	return names(value, dir) || strings.HasPrefix(value, "./") || strings.HasPrefix(value, "../")
}

// names reports whether text contains the path of dir or of an entry in it.
func names(text, dir string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], dir)
		if i < 0 {
			break
		}
		if at += i + len(dir); at == len(text) || text[at] == '/' || strings.ContainsRune(" \t,;:\"'", rune(text[at])) {
			return true
		}
	}
	return filepath.IsAbs(text) && InDir(text, dir)
}

// in bytes
const maxScriptLine = 128

// scriptFolders returns the folders of Python scripts in words that lie outside dir.
func scriptFolders(words []string, dir, home string) (out []string) {
	for _, word := range words {
		word = strings.Trim(word, `"'`)
		if rest, ok := strings.CutPrefix(word, "~/"); ok && home != "" {
			word = filepath.Join(home, rest)
		}
		if !filepath.IsAbs(word) || InDir(word, dir) || !pythonScript(word) {
			continue
		}
		if folder := filepath.Dir(real(word)); !slices.Contains(out, folder) && !strings.Contains(folder, string(filepath.ListSeparator)) {
			out = append(out, folder)
		}
	}
	return out
}

func pythonScript(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if ext := filepath.Ext(path); ext == ".py" || ext == ".pyw" {
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, maxScriptLine)
	n, _ := f.Read(head) // an unreadable file is no script
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	return strings.HasPrefix(line, "#!") && strings.Contains(line, "python")
}
