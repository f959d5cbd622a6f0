// Package highlight tells the parts of source code apart: words of the language, text, comments,
// numbers.
//
// The one rule: it never changes the text. The tokens of a text, put together, are the text; a
// wrong guess shows as a wrong colour and nothing else.
//
// Start reading here: Language. Then grammar.go (what a language is made of), scan.go and text.go
// (the scanner that most of them share), languages.go; line.go and markup.go are for those that are
// not made of words.
//
// A language is a table that is made when it is asked for. Nothing is built at start-up, there are
// no regular expressions, and a text is read once from its beginning to its end.
//
// Known limits: it knows words, not grammar. What a language lets stand within text (expressions in
// templates), documents within scripts and scripts within pages are text. A text that has no end on
// its line, and is not meant to go on, ends with the line.
package highlight

import (
	"path"
	"strings"
)

// Kind says what a token is.
type Kind uint8

// The kinds.
const (
	Text Kind = iota
	Keyword
	String
	Comment
	Number // or a constant such as true
	Function
	Type
	Property // key, attribute, variable
	Heading  // of Markdown
	Added    // of a diff, and the next two
	Removed
	Hunk
)

// Token is a piece of code.
type Token struct {
	Kind Kind
	Text string
}

// Language can tell the parts of its code. The zero value knows nothing: all is text.
type Language struct {
	tokens func(code string) []Token
}

// Known reports whether the language is one that is known.
func (l Language) Known() bool { return l.tokens != nil }

// Tokens splits code. Put together, the tokens are the code.
func (l Language) Tokens(code string) []Token {
	if l.tokens == nil {
		return []Token{{Text, code}}
	}
	return l.tokens(code)
}

// Named finds a language by what people call it, as behind the fence of a code block. An unknown
// name gives the zero Language.
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

// ForFile finds the language of a file by its name.
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
