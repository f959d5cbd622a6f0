package seccomptrace

import (
	"slices"
	"strings"
)

// LooksLikeRepository reports whether git takes a folder for a repository.
func LooksLikeRepository(has func(name string) bool) bool {
	return has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

// GitWrites reports whether git writes a repository path in everyday work and runs no program
// because of it.
func GitWrites(rel string) bool {
	first, rest, _ := strings.Cut(rel, "/")
	switch first {
	case "objects", "refs", "logs", "reftable", "rr-cache", "rebase-merge", "rebase-apply", "sequencer", "branches":
		return true
	case "index", "HEAD", "packed-refs", "shallow", "description", "gc.log", "gc.pid", "AUTO_MERGE":
		return true
	case "info":
		return slices.Contains([]string{"", "exclude", "sparse-checkout", "refs"}, rest)
	case "lfs":
		second, _, _ := strings.Cut(rest, "/")
		return slices.Contains([]string{"", "objects", "tmp", "cache", "incomplete"}, second)
	}
	if rest != "" {
		return false
	}
	for _, end := range []string{"_HEAD", "_MSG", "_EDITMSG", "_MODE", "_RR", "_START", "_LOG", "_TERMS", "_NAMES", "_EXPECTED_REV", "_ANCESTORS_OK", "_AUTOSTASH"} {
		if strings.HasSuffix(first, end) && strings.ToUpper(first) == first {
			return true
		}
	}
	return strings.HasPrefix(first, "sharedindex.") || strings.HasPrefix(first, "NOTES_MERGE")
}
