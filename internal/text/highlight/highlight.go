// Package highlight splits source code into tokens: keywords, strings, comments, numbers.
//
// The one rule: it never changes the text. All tokens concatenated are the text; a wrong guess only
// shows a wrong color.
//
// Start reading at Language. Then grammar.go (language descriptions), scan.go and text.go (the
// scanner shared by most languages), languages.go; line.go and markup.go handle the other
// languages.
//
// A language is a table built on demand. Nothing is built at startup, there are no regular
// expressions, and a text is scanned once.
//
// Known limits: it knows words, not grammar. Expressions in templates, documents inside scripts and
// scripts inside pages are plain strings. An unterminated string ends with its line unless the
// syntax allows several lines.
package highlight

import (
	"path"
	"strings"
)

// Kind is a token type.
type Kind uint8

const (
	Text Kind = iota
	Keyword
	String
	Comment
	Number // or a constant such as true
	Function
	Type
	Property // key, attribute or variable
	Heading  // in Markdown
	Added    // in a diff, like the next two
	Removed
	Hunk
)

// Token is a piece of code.
type Token struct {
	Kind Kind
	Text string
}

// Language splits code into tokens. The zero value is an unknown language, for which everything is
// text.
type Language struct {
	tokens func(code string) []Token
}

// Known reports whether l is a known language.
func (l Language) Known() bool { return l.tokens != nil }

// Tokens splits code. All tokens concatenated are the code.
func (l Language) Tokens(code string) []Token {
	if l.tokens == nil {
		return []Token{{Text, code}}
	}
	return l.tokens(code)
}

// Named finds a language by a common name, as used after code fences. It returns the zero Language
// if the name is unknown.
func Named(name string) Language {
	switch strings.ToLower(name) {
	case "go", "golang":
		return words(goGrammar())
	case "py", "python", "python3", "pyi":
		return words(pythonGrammar())
	case "js", "javascript", "jsx", "mjs", "cjs", "ts", "typescript", "tsx", "mts", "cts":
		return words(scriptGrammar())
	case "json", "jsonc", "json5", "jsonl":
		return words(jsonGrammar())
	case "yaml", "yml":
		return words(yamlGrammar())
	case "toml", "ini", "cfg", "conf", "properties", "editorconfig":
		return words(tomlGrammar())
	case "sh", "bash", "shell", "zsh", "ksh", "console", "shellsession", "fish", "env":
		return words(shellGrammar())
	case "rs", "rust":
		return words(rustGrammar())
	case "c", "h", "cpp", "c++", "cc", "cxx", "hpp", "hh", "hxx", "objc", "m":
		return words(cGrammar())
	case "java":
		return words(javaGrammar())
	case "cs", "csharp", "c#":
		return words(sharpGrammar())
	case "rb", "ruby", "rake", "gemspec":
		return words(rubyGrammar())
	case "php":
		return words(phpGrammar())
	case "sql", "sqlite", "mysql", "postgresql", "plsql":
		return words(sqlGrammar())
	case "css", "scss", "less":
		return words(cssGrammar())
	case "make", "makefile", "mk":
		return words(makeGrammar())
	case "docker", "dockerfile", "containerfile":
		return words(dockerGrammar())
	case "html", "htm", "xml", "svg", "xhtml", "vue", "svelte", "plist":
		return Language{markup}
	case "md", "markdown", "mdx":
		return Language{lines(markdownLine)}
	case "diff", "patch":
		return Language{lines(diffLine)}
	}
	return Language{}
}

// ForFile finds a language by file name.
func ForFile(name string) Language {
	base := strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	switch base {
	case "go.mod", "go.work":
		return words(modGrammar())
	case "gemfile", "rakefile", "vagrantfile":
		return Named("ruby")
	case "makefile", "gnumakefile":
		return Named("make")
	case "dockerfile", "containerfile":
		return Named("docker")
	case ".bashrc", ".zshrc", ".profile", ".bash_profile", ".envrc", ".env":
		return Named("sh")
	case ".editorconfig", ".gitconfig":
		return Named("toml")
	case "cargo.lock", "poetry.lock":
		return Named("toml")
	}
	if strings.HasPrefix(base, "dockerfile.") {
		return Named("docker")
	}
	ext := path.Ext(base)
	if ext == "" {
		return Language{}
	}
	return Named(ext[1:])
}
