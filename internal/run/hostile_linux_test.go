package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const oneAnswer = "-- 1 --\ntext: hello\n"

// garble overwrites the session store of a user, as a failing disk would.
func (u *user) garble() {
	u.t.Helper()
	db := filepath.Join(u.home, "state", "sessions.db")
	for _, side := range []string{"-wal", "-shm"} {
		if err := os.Remove(db + side); err != nil && !os.IsNotExist(err) {
			u.t.Fatal(err)
		}
	}
	if err := os.WriteFile(db, []byte(strings.Repeat("not a database\n", 400)), 0o600); err != nil {
		u.t.Fatal(err)
	}
}

// TestDamagedStoreIsTold: sessions that were lost are never lost in silence.
func TestDamagedStoreIsTold(t *testing.T) {
	for name, args := range map[string][]string{
		"text": {"-p", "hi"}, "json": {"-p", "hi", "--output-format=json"}, "stream": {"-p", "hi", "--output-format=stream-json"},
		"list": {"session", "list"}, "audit": {"audit", "verify", "--all"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			model := u.script(oneAnswer)
			u.run("-p", "hi", model).wants(0)
			u.garble()
			if args[0] == "-p" {
				args = append(args, model)
			}
			u.run(args...).wants(0, "the session store was damaged", "sessions.db.damaged-")
			u.run("-p", "hi", model).lacks("damaged") // told once: the fresh file is sound
		})
	}
}

func (r ran) lacks(part string) {
	r.t.Helper()
	if strings.Contains(r.out+r.err, part) {
		r.t.Errorf("the output says %q\nstdout: %s\nstderr: %s", part, r.out, r.err)
	}
}

// TestRelativeHome: a relative folder of adze is taken from where adze was started; a relative XDG
// folder is ignored, as its specification wants.
func TestRelativeHome(t *testing.T) {
	u := newUser(t)
	model := u.script(oneAnswer)
	u.env = append(u.env, "ADZE_HOME=rel")
	u.run("-p", "hi", model).wants(0, "hello")
	if _, err := os.Stat(filepath.Join(u.dir, "rel", "state", "sessions.db")); err != nil {
		t.Error(err)
	}
	u.env = append(u.env, "ADZE_HOME=", "HOME=alsorel", "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "AGENT_WORKSPACE_ROOT=")
	u.run("-p", "hi", model).wants(0, "hello")
}

// TestFullStdoutIsTold: an answer that no disk took is not lost in silence.
func TestFullStdoutIsTold(t *testing.T) {
	u := newUser(t)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full here")
	}
	defer full.Close()
	for _, format := range []string{"text", "json", "stream-json"} {
		cmd := u.command("-p", "hi", "--output-format", format, u.script(oneAnswer))
		var errs strings.Builder
		cmd.Stdout, cmd.Stderr = full, &errs
		_ = cmd.Run() // the code is what counts
		if code := cmd.ProcessState.ExitCode(); code != 11 || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%s: exit code %d, stderr %q", format, code, errs.String())
		}
	}
}

// TestStdinFolder: a folder as stdin is a mistake of the command line.
func TestStdinFolder(t *testing.T) {
	u := newUser(t)
	dir, err := os.Open(u.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	u.runWith(dir, "-p", "hi", u.script(oneAnswer)).wants(2, "stdin", "directory")
}
