package proc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Isolated returns the environment of a program that starts without a question: interpreters and
// package runners below it are led to no code in the folder dir, which is free of links. Entries of
// search paths that lie in dir or are relative are left out, and so are settings of interpreters
// that name a place in dir or a relative one. Python finds no modules in the current folder and
// beside its script (PYTHONSAFEPATH, from Python 3.11 on).
//
// Words are those of the program's command line. A Python script that they name outside of dir
// still finds the modules beside it.
//
// PATH stays as it is; see Outside.
func Isolated(env []string, dir string, words ...string) []string {
	if dir == "" || dir == filepath.Dir(dir) { // there is nothing outside of it
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

// Elsewhere returns the environment of a program that starts in a folder of its own and has no
// business in dir: as Isolated, but Python may load what lies beside its script, and nothing tells
// where adze was started.
func Elsewhere(env []string, dir string) []string {
	return slices.DeleteFunc(Isolated(env, dir), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return name == "PYTHONSAFEPATH" || (name == "PWD" || name == "OLDPWD" || name == "INIT_CWD") && names(value, dir)
	})
}

// Consented returns the environment of a program that the user allowed as a project carries it. It
// is as Isolated, but where the command names a module of the project (python -m), which was shown
// and is pinned, Python finds it.
func Consented(env []string, dir string, words ...string) []string {
	out := Isolated(env, dir, words...)
	for n, word := range words {
		if word == "-m" && n+1 < len(words) && module(dir, words[n+1]) {
			return slices.DeleteFunc(out, func(kv string) bool { return kv == safePath })
		}
	}
	return out
}

// module reports a Python module in dir.
func module(dir, name string) bool {
	path := filepath.Join(dir, strings.ReplaceAll(strings.Trim(name, `"';`), ".", "/"))
	for _, path := range []string{path + ".py", filepath.Join(path, "__main__.py")} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// safePath keeps Python from adding the folder of a script, or the current one, to its search path.
const safePath = "PYTHONSAFEPATH=1"

// searchPath reports a variable that lists folders in which interpreters look for code.
func searchPath(name string) bool {
	switch name {
	case "PYTHONPATH", "NODE_PATH", "RUBYLIB", "PERL5LIB", "PERLLIB", "GOPATH", "GEM_PATH", "CLASSPATH", "LUA_PATH", "LUA_CPATH", "PHP_INI_SCAN_DIR", "TCLLIBPATH",
		"GUILE_LOAD_PATH", "JULIA_LOAD_PATH", "ERL_LIBS", "FPATH", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS":
		return true
	}
	return false
}

// steers reports a variable by which an interpreter or a package runner finds its settings, or
// code.
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

// leadsInto reports a value that names a place in dir, or one that depends on where a program runs.
func leadsInto(value, dir string) bool {
	return names(value, dir) || strings.HasPrefix(value, "./") || strings.HasPrefix(value, "../")
}

// names reports a text with the path of dir, or of something in it, anywhere.
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
	return filepath.IsAbs(text) && Inside(text, dir)
}

// maxScriptLine bounds the first line of a script, in bytes.
const maxScriptLine = 128

// scriptFolders are the folders of the Python scripts outside of dir that words name.
func scriptFolders(words []string, dir, home string) (out []string) {
	for _, word := range words {
		word = strings.Trim(word, `"'`)
		if rest, ok := strings.CutPrefix(word, "~/"); ok && home != "" {
			word = filepath.Join(home, rest)
		}
		if !filepath.IsAbs(word) || Inside(word, dir) || !pythonScript(word) {
			continue
		}
		if folder := filepath.Dir(real(word)); !slices.Contains(out, folder) && !strings.Contains(folder, string(filepath.ListSeparator)) {
			out = append(out, folder)
		}
	}
	return out
}

// pythonScript reports a file that Python runs.
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
	n, _ := f.Read(head) // a file that cannot be read is no script
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	return strings.HasPrefix(line, "#!") && strings.Contains(line, "python")
}
