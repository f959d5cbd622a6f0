package search

import "strings"

type fileType struct{ name, globs string }

// fileTypes maps GrepQuery.Type to globs separated by spaces, sorted by name.
var fileTypes = [...]fileType{
	{"asm", "*.s *.S *.asm"},
	{"bazel", "BUILD WORKSPACE BUILD.bazel WORKSPACE.bazel MODULE.bazel *.bzl"},
	{"c", "*.c *.h"},
	{"clojure", "*.clj *.cljs *.cljc *.edn"},
	{"cmake", "CMakeLists.txt *.cmake"},
	{"config", "*.toml *.yaml *.yml *.json *.jsonc *.ini *.cfg *.conf *.properties"},
	{"cpp", "*.cpp *.cc *.cxx *.c++ *.hpp *.hh *.hxx *.h *.inl *.ipp"},
	{"cs", "*.cs *.csx"},
	{"css", "*.css *.scss *.sass *.less"},
	{"dart", "*.dart"},
	{"docker", "Dockerfile Dockerfile.* *.dockerfile Containerfile"},
	{"elixir", "*.ex *.exs *.eex *.heex"},
	{"erlang", "*.erl *.hrl"},
	{"fsharp", "*.fs *.fsi *.fsx"},
	{"go", "*.go"},
	{"graphql", "*.graphql *.gql"},
	{"haskell", "*.hs *.lhs"},
	{"html", "*.html *.htm *.xhtml"},
	{"java", "*.java *.jsp"},
	{"js", "*.js *.jsx *.mjs *.cjs *.vue"},
	{"json", "*.json *.jsonc *.jsonl *.ndjson"},
	{"julia", "*.jl"},
	{"kotlin", "*.kt *.kts"},
	{"lua", "*.lua"},
	{"make", "Makefile makefile GNUmakefile *.mk *.mak"},
	{"md", "*.md *.markdown *.mdx"},
	{"nim", "*.nim *.nims"},
	{"nix", "*.nix"},
	{"objc", "*.m *.mm *.h"},
	{"ocaml", "*.ml *.mli *.mll *.mly"},
	{"perl", "*.pl *.pm *.t"},
	{"php", "*.php *.phtml"},
	{"proto", "*.proto"},
	{"ps", "*.ps1 *.psm1 *.psd1"},
	{"py", "*.py *.pyi *.pyx"},
	{"r", "*.r *.R *.Rmd"},
	{"ruby", "*.rb *.rake *.gemspec Gemfile Rakefile"},
	{"rust", "*.rs"},
	{"scala", "*.scala *.sc *.sbt"},
	{"sh", "*.sh *.bash *.zsh *.ksh *.fish"},
	{"sql", "*.sql"},
	{"svelte", "*.svelte"},
	{"swift", "*.swift"},
	{"tex", "*.tex *.sty *.cls *.bib"},
	{"tf", "*.tf *.tfvars *.hcl"},
	{"toml", "*.toml"},
	{"ts", "*.ts *.tsx *.mts *.cts"},
	{"txt", "*.txt *.text *.rst *.adoc"},
	{"vim", "*.vim"},
	{"vue", "*.vue"},
	{"xml", "*.xml *.xsd *.xsl *.xslt *.svg"},
	{"yaml", "*.yaml *.yml"},
	{"zig", "*.zig"},
}

var fileTypeAliases = [...]struct{ alias, name string }{
	{"bash", "sh"}, {"c++", "cpp"}, {"csharp", "cs"}, {"golang", "go"}, {"hs", "haskell"}, {"javascript", "js"},
	{"kt", "kotlin"}, {"markdown", "md"}, {"powershell", "ps"}, {"protobuf", "proto"}, {"python", "py"},
	{"rb", "ruby"}, {"rs", "rust"}, {"shell", "sh"}, {"terraform", "tf"}, {"typescript", "ts"}, {"yml", "yaml"},
}

// Types lists the valid GrepQuery.Type values.
func Types() []string {
	names := make([]string, len(fileTypes))
	for i, t := range fileTypes {
		names[i] = t.name
	}
	return names
}

func typeGlobs(name string) ([]string, error) {
	want := strings.ToLower(strings.TrimPrefix(name, "."))
	for _, a := range fileTypeAliases {
		if a.alias == want {
			want = a.name
		}
	}
	for _, t := range fileTypes {
		if t.name == want {
			return strings.Fields(t.globs), nil
		}
	}
	return nil, invalid("type %.40q is unknown; use include with a glob such as *.%.20s, or one of: %s", name, want, strings.Join(Types(), " "))
}
