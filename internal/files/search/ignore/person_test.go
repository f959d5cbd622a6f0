package ignore

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWhatThePersonConfiguredIsReadOnce takes the files away behind the first repository: the
// others are still judged by them, and a repository that names a file of its own by that one.
func TestWhatThePersonConfiguredIsReadOnce(t *testing.T) {
	home := t.TempDir()
	put := func(path, text string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config := put(home+"/.gitconfig", "[core]\nexcludesFile = ~/mine\n")
	mine := put(home+"/mine", "*.mine\n")
	put(home+"/other", "*.other\n")
	put(home+"/b/.git/config", "[core]\nexcludesFile = "+home+"/other\n")
	put(home+"/c/.git/config", "")
	f := Finder{UserConfig: &UserConfig{}, Env: func(name string) string {
		return map[string]string{"HOME": home, "GIT_CONFIG_NOSYSTEM": "1"}[name]
	}}
	for i, c := range []struct{ repo, ignored string }{{"", "x.mine"}, {home + "/b", "x.other"}, {home + "/c", "x.mine"}} {
		rules := f.Excludes(c.repo)
		if i == 0 {
			for _, path := range []string{config, mine} {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
		}
		var q Query
		q.In((&Level{more: rules}).with(Files{}))
		if len(rules) != 1 || !q.Ignored(c.ignored, false) || q.Ignored("y", false) {
			t.Errorf("%s: %d sets of rules, %s is not ignored", c.repo, len(rules), c.ignored)
		}
	}
}
