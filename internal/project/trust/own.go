package trust

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// own returns the items of the user's configuration that take code from this folder, hashed. The
// folder's files are not pinned: the user is asked once per folder, and again when their own
// definition changes.
func (p Project) own() []Item {
	if p.UserItems == nil {
		return nil
	}
	items := p.UserItems()
	for n, i := range items {
		items[n] = p.Named(i)
	}
	return items
}

// Named returns an item of UserItems with its full id and hash.
func (p Project) Named(i Item) Item {
	i.ID, i.Mine, i.Path = i.Kind+":"+i.ID+"@config", true, i.Source
	i.seal()
	return i
}

// ProjectCode describes the code of this folder that a program would run, or returns "" if none is
// known. words is the command; shell is a text for a shell and may be empty.
func (p Project) ProjectCode(words []string, shell string) string {
	all := append(slices.Clone(words), strings.FieldsFunc(strings.NewReplacer(`"`, "", "'", "").Replace(shell), func(r rune) bool { return r <= ' ' || strings.ContainsRune("`;&|<>()", r) })...)
	for n, word := range all {
		word = p.unrooted(word)
		if script(p.Dir, word) {
			return "it runs " + word + " of this folder"
		}
		program := path.Base(word)
		if !fromHere(program, all[n+1:]) {
			continue
		}
		for dir := p.Dir; dir == p.Dir || dir != p.Home; dir = filepath.Dir(dir) {
			for _, name := range takes(program) {
				if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
					return program + " takes what it runs from " + name + " of this folder"
				}
			}
			if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
				break // parents are outside the opened project
			}
		}
	}
	return ""
}

// takes lists the files and folders through which a program runs code of its current folder or a
// parent.
func takes(program string) []string {
	known := runners(program)
	switch program {
	case "npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx":
		return append(known, "node_modules", ".pnpmfile.cjs")
	case "prettier", "eslint", "stylelint", "xo", "standard":
		return []string{"package.json", "node_modules", ".prettierrc", ".prettierrc.json", ".prettierrc.yaml", ".prettierrc.yml", ".prettierrc.toml", ".prettierrc.js", ".prettierrc.cjs", ".prettierrc.mjs",
			".prettierrc.ts", "prettier.config.js", "prettier.config.cjs", "prettier.config.mjs", "prettier.config.ts", ".eslintrc.js", ".eslintrc.cjs", ".eslintrc.json", ".eslintrc",
			"eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", "eslint.config.ts", ".stylelintrc", ".stylelintrc.js", "stylelint.config.js"}
	case "rustfmt", "rustc", "clippy-driver":
		return []string{"rust-toolchain", "rust-toolchain.toml"}
	case "cargo":
		return append(known, "rust-toolchain", "rust-toolchain.toml")
	case "go":
		return []string{"go.mod", "go.work"}
	case "node":
		return []string{"node_modules"}
	case "lua", "luajit", "java": // their search paths contain the current folder
		return []string{"."}
	case "docker", "podman":
		return runners("docker-compose")
	case "deno":
		return append(known, "package.json")
	case "bundle", "bundler", "rspec", "rubocop", "standardrb":
		return []string{"Gemfile", "gems.rb", ".rspec", ".rubocop.yml", ".standard.yml"}
	case "pytest", "py.test", "pylint", "mypy":
		return []string{"conftest.py", "pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini", ".pylintrc", "pylintrc", "mypy.ini"}
	case "php-cs-fixer", "phpstan", "phpunit":
		return []string{"composer.json", "vendor", ".php-cs-fixer.php", ".php-cs-fixer.dist.php", "phpstan.neon", "phpunit.xml", "phpunit.xml.dist"}
	case "mix", "iex":
		return []string{"mix.exs", ".formatter.exs"}
	case "pre-commit":
		return []string{".pre-commit-config.yaml"}
	}
	return known
}

// fromHere reports whether a program with these arguments may run code from its current folder. For
// most programs the name alone decides.
func fromHere(program string, words []string) bool {
	has := func(options ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(options, w) })
	}
	switch program {
	case "go":
		return builds(words)
	case "node": // a script text has no folder, so modules come from the current one
		return has("-e", "--eval", "-p", "--print", "-pe", "-r", "--require", "--import", "-")
	case "java":
		return !has("-jar", "-cp", "-classpath", "--class-path", "-m", "--module")
	case "docker", "podman":
		return has("compose")
	}
	return true
}

// builds reports whether these arguments make go run a folder's code or a named program.
func builds(words []string) bool {
	for n, word := range words {
		switch {
		case strings.HasPrefix(word, "-"):
		case word == "run" || word == "tool":
			return n+1 >= len(words) || !strings.Contains(words[n+1], "@")
		default:
			return word == "test" || word == "generate"
		}
	}
	return false
}

// script reports whether word is an executable file in dir.
func script(dir, word string) bool {
	if word == "" || strings.HasPrefix(word, "-") {
		return false
	}
	name := word
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	if rel, err := filepath.Rel(dir, name); err != nil || !filepath.IsLocal(rel) {
		return false
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if strings.Contains(word, "/") && info.Mode()&0o111 != 0 {
		return true
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".py", ".pyw", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".rb", ".pl", ".pm", ".php", ".sh", ".bash", ".zsh", ".fish", ".lua", ".tcl", ".jar", ".exs", ".ps1":
		return true
	}
	return false
}

// RunsFrom names the file of dir that a command started elsewhere runs as its program. It returns
// "" if the command only works on the folder.
func RunsFrom(argv []string, dir string) string {
	inside := func(word string) bool {
		rel, err := filepath.Rel(dir, word)
		return filepath.IsAbs(word) && err == nil && filepath.IsLocal(rel)
	}
	if len(argv) == 0 {
		return ""
	}
	if inside(argv[0]) {
		return "it runs " + argv[0] + " of this folder"
	}
	program := path.Base(argv[0])
	if len(entries(program)) == 0 && len(takes(program)) == 0 && !slices.Contains([]string{"sh", "bash", "zsh", "ruby", "perl", "lua", "java", "env", "uvx", "pipx"}, program) {
		return ""
	}
	operands := 2 // a subcommand, and its program
	if slices.Contains([]string{"npx", "pnpx", "bunx", "uvx", "pipx"}, program) {
		operands = 1
	}
	for n := 1; n < len(argv) && operands > 0; n++ {
		word := argv[n]
		if name, value, ok := strings.Cut(word, "="); ok && strings.HasPrefix(name, "-") && inside(value) && slices.Contains([]string{"--prefix", "--directory", "--project", "--cwd", "--config", "--with-editable", "--from", "--import", "--require", "-C"}, name) {
			return program + " is led into this folder by " + name
		}
		if word == "-m" {
			return "" // a module, and its arguments
		}
		if strings.HasPrefix(word, "-") {
			continue
		}
		if inside(word) {
			return "it runs " + word + " of this folder"
		}
		if operands--; strings.Contains(word, "/") {
			return "" // the program: the rest are arguments
		}
	}
	return ""
}
