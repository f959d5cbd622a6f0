package policy

import (
	"slices"
	"strings"

	"adze/internal/policy/programs"
)

// beyondWalls says why a command would fail where it only reads and has no network: as its words
// say, or because it goes on in the background. Of other commands that is found when they have
// failed, which does no harm, because they changed nothing.
func beyondWalls(v verdict) string {
	if v.need.Lasts {
		return quote(v.need.Target) + " goes on in the background"
	}
	if why := networks(v.command); why != "" {
		return why
	}
	for _, p := range v.command.top.Parts {
		if p.Redirect != nil && p.Redirect.Writes && !strings.HasPrefix(p.Redirect.Target.Spelled, "/dev/") {
			return "it writes " + quote(p.Redirect.Target.Spelled)
		}
	}
	for _, s := range v.command.simples {
		if !s.maybe && len(s.words) > 0 && changesFiles(base(s.name()), texts(s.words)) {
			return quote(s.String()) + " changes files"
		}
	}
	return ""
}

// changesFiles reports a program whose work is to change files, with these words.
func changesFiles(program string, words []string) bool {
	sub := ""
	if i := slices.IndexFunc(words[1:], func(w string) bool { return !strings.HasPrefix(w, "-") }); i >= 0 {
		sub = words[1+i]
	}
	switch program {
	case "rm", "mv", "cp", "ln", "mkdir", "rmdir", "touch", "chmod", "chown", "chgrp", "install", "truncate", "dd", "mkfifo", "patch", "rsync", "unzip",
		"gzip", "gunzip", "unlink", "shred", "make", "ninja", "cmake", "gradle", "gradlew", "mvn", "mvnw", "black", "isort":
		return true
	case "tee":
		return slices.ContainsFunc(words[1:], func(w string) bool { return !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "/dev/") })
	case "git":
		return oneOf(programs.GitOf(words[1:]).Sub, "add commit checkout switch restore reset merge rebase stash apply am cherry-pick revert pull init clean rm mv gc worktree submodule")
	case "go":
		return oneOf(sub, "generate fmt mod get install work") || sub == "build" && slices.ContainsFunc(words, func(w string) bool { return w == "-o" })
	case "cargo":
		return oneOf(sub, "build test run check clippy bench doc fmt fix new init clean")
	case "npm", "pnpm", "yarn", "bun":
		return oneOf(sub, "build init pack version")
	case "dotnet", "swift", "zig":
		return oneOf(sub, "build test run publish new clean")
	}
	return slices.ContainsFunc(programs.More(words), func(n programs.Named) bool { return n.Does != "runs a program" && slices.Contains(words[1:], n.Option) })
}
