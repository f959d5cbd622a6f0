package run_test

import (
	"os"
	"path/filepath"
	"testing"
)

// scripts writes conversations and returns the full names of their models.
func (u *user) scripts(steps ...string) (models []string) {
	u.t.Helper()
	for i, text := range steps {
		path := filepath.Join(u.home, "model"+string(rune('a'+i))+".txtar")
		if err := os.WriteFile(path, []byte("# a test\n"+text), 0o600); err != nil {
			u.t.Fatal(err)
		}
		models = append(models, "script/"+path)
	}
	return models
}

// A session goes on with its model, whatever the configuration names for new ones; a flag wins.
func TestASessionKeepsItsModel(t *testing.T) {
	u := newUser(t)
	m := u.scripts("-- 1 --\ntext: by a\n", "-- 1 --\ntext: by b\n")
	u.configure(`{"model": "` + m[1] + `"}`)
	u.run("-p", "--model", m[0], "hi").wants(0, "by a")
	u.run("-p", "--continue", "go on").wants(0, "by a")
	u.run("-p", "--continue", "--model", m[1], "go on").wants(0, "by b")
	u.run("-p", "--continue", "go on").wants(0, "by b")
	u.run("-p", "--continue", "--fork", "--model", m[0], "go on").wants(0, "by a") // a copy remembers too
	u.run("-p", "--continue", "go on").wants(0, "by a")
	u.run("-p", "hi").wants(0, "by b")
}

// A model that cannot be used any more is said, and the configured one goes on.
func TestASessionWhoseModelIsGoneGoesOn(t *testing.T) {
	u := newUser(t)
	m := u.scripts("-- 1 --\ntext: by a\n", "-- 1 --\ntext: by b\n")
	u.configure(`{"model": "` + m[1] + `"}`)
	u.run("-p", "--model", m[0], "hi").wants(0, "by a")
	if err := os.Remove(filepath.Join(u.home, "modela.txtar")); err != nil {
		t.Fatal(err)
	}
	u.run("-p", "--continue", "go on").wants(0, "by b", "this session worked with "+m[0]+", which cannot be used")
}
