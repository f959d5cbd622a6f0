package claims

import (
	"slices"
	"strings"
	"sync"
)

// looking are programs that change nothing and run nothing of a project.
var looking = sync.OnceValue(func() map[string]bool {
	return set(`ls cat grep rg egrep fgrep head tail wc pwd which whoami date sleep echo printf true false tree stat file diff cmp sort uniq
		cut tr nl less more du df ps env uname basename dirname realpath readlink cd test [ type command jq id hostname`)
})

// calm are those that do change files and run no tests.
var calm = sync.OnceValue(func() map[string]bool {
	return set(`sed mkdir cp mv rm touch ln chmod chown find gofmt goimports prettier black tee rmdir tar unzip zip kill pkill curl wget install`)
})

// subcommands are those of larger programs that only look, and that run no tests.
var lookingAt = sync.OnceValue(func() map[string]map[string]bool {
	return map[string]map[string]bool{
		"git": set("status diff log show branch blame rev-parse ls-files remote describe shortlog"), "go": set("vet list env version doc build test"),
		"cargo": set("check clippy build test tree"), "npm": set("ls view"), "pip": set("list show"), "gh": set("pr run issue"),
	}
})

var calmAt = sync.OnceValue(func() map[string]map[string]bool {
	packages := set("install i ci add remove update ls view init list show freeze lock sync")
	return map[string]map[string]bool{
		"git": nil, "go": set("vet list env version doc build fmt mod get install clean help tool"), "cargo": set("check clippy build fmt add tree new init update"),
		"npm": packages, "pnpm": packages, "yarn": packages, "pip": packages, "pip3": packages, "uv": set("add sync lock pip venv"), "poetry": packages,
	}
})

// mayTest reports a command that may have run tests: any that is not known for something else.
func mayTest(command string) bool {
	return slices.ContainsFunc(simple(command), func(words []string) bool {
		name := words[0]
		if looking()[name] || calm()[name] && !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-exec") }) {
			return false
		}
		subs, known := calmAt()[name]
		if !known {
			return true
		}
		return subs != nil && !subs[subcommand(words)]
	})
}

// tests reports a command that is known to run tests, and nothing else.
func isTest(command string) bool {
	all := simple(command)
	if len(all) != 1 || strings.Contains(command, "||") {
		return false
	}
	words := all[0]
	switch sub := subcommand(words); words[0] {
	case "pytest", "jest", "vitest", "phpunit", "rspec", "tox", "nosetests", "ctest":
		return true
	case "go", "cargo", "npm", "pnpm", "yarn", "dotnet", "mix", "swift", "deno", "bun", "make", "mvn", "gradle":
		return sub == "test" || sub == "t"
	}
	return false
}

// mayWrite reports a command that may have changed files other than what it is known to write.
func mayWrite(command string) bool {
	if strings.Contains(strings.ReplaceAll(strings.ReplaceAll(command, "2>&1", ""), ">/dev/null", ""), ">") {
		return true
	}
	return slices.ContainsFunc(simple(command), func(words []string) bool {
		if looking()[words[0]] || words[0] == "pytest" || words[0] == "sleep" {
			return false
		}
		if words[0] == "sed" && !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-i") || strings.HasPrefix(w, "--in") }) {
			return false
		}
		return !lookingAt()[words[0]][subcommand(words)]
	})
}

// subcommand is the first argument that is no option.
func subcommand(words []string) string {
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") {
			return w
		}
	}
	return ""
}
