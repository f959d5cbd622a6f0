//go:build unix

package sandbox

import (
	"slices"
	"strings"
	"testing"

	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim/namespace"
)

func TestSeatbeltSaysWhatThePlanSays(t *testing.T) {
	const odd = `/w") (allow default)`
	p := plan{
		workspace: folder{path: odd}, cache: "/s/sandbox/cache/1", grants: []string{"/main/.git"},
		guards:  []guard{{odd + "/.git", namespace.Same}, {odd + "/.git/hooks", namespace.Locked}, {odd + "/.vscode", namespace.Locked}, {"/main/.git/info/attributes", namespace.Locked}},
		secrets: []string{"/home/.ssh", "/s"},
		command: proc.Command{Dir: "/s/mcp/folders/fs", OwnDir: true},
	}
	text, params := seatbelt(p)
	if strings.Count(text, "(") != strings.Count(text, ")") || strings.Contains(text, "/w\"") || strings.Contains(text, "/home") || strings.Contains(text, "allow default") {
		t.Errorf("a path is a part of the text:\n%s", text)
	}
	if !strings.HasPrefix(text, "(version 1)\n(deny default)\n") || strings.Contains(text, "network") {
		t.Errorf("it does not begin with a denial of everything, or opens the network:\n%s", text)
	}
	named := func(rule, path string) int {
		at := slices.IndexFunc(params, func(kv string) bool { return strings.HasSuffix(kv, "="+path) })
		if at < 0 {
			t.Fatalf("no parameter holds %s: %q", path, params)
		}
		name, _, _ := strings.Cut(params[at], "=")
		return strings.LastIndex(text, strings.ReplaceAll(rule, "X", `(param "`+name+`")`))
	}
	if named("(allow file-read* file-write* (subpath X))", "/s/mcp/folders/fs") < named("(deny file-read* file-write* (subpath X))", "/s") {
		t.Error("the command's own folder is hidden with the state")
	}
	allowed := named("(allow file-write* (subpath X))", odd)
	for rule, path := range map[string]string{
		"(deny file-write* (subpath X))":             odd + "/.git/hooks",
		"(deny file-write-unlink (literal X))":       odd + "/.git",
		"(deny file-read* file-write* (subpath X))":  "/home/.ssh",
		"(allow file-read* file-write* (subpath X))": "/s/sandbox/cache/1",
	} {
		if named(rule, path) < allowed {
			t.Errorf("%s for %s does not come after what is allowed:\n%s", rule, path, text)
		}
	}
	if named("(deny file-write-unlink (literal X))", "/main/.git/info") < 0 || named("(deny file-write* (subpath X))", odd+"/.vscode") < 0 {
		t.Errorf("a place is left open:\n%s", text)
	}
	if named("(deny file-read* file-write* (subpath X))", "/s") > named("(allow file-read* file-write* (subpath X))", "/s/sandbox/cache/1") {
		t.Errorf("the caches are closed by the folder that they lie in:\n%s", text)
	}
}
