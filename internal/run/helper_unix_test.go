//go:build !windows

package run_test

import "encoding/json"

// withName gives the user what git asks for before a commit.
func (u *user) withName() *user {
	u.env = append(u.env, "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@b")
	return u
}

// examined are the checks of adze doctor --json, by name.
type examined map[string]struct{ State, Found, Mend string }

func (u *user) doctor(code int, args ...string) examined {
	u.t.Helper()
	r := u.run(append([]string{"doctor", "--json"}, args...)...).wants(code)
	var said struct {
		ExitCode int `json:"exit_code"`
		Checks   []struct{ Name, State, Found, Mend string }
	}
	if err := json.Unmarshal([]byte(r.out), &said); err != nil || said.ExitCode != code {
		u.t.Fatalf("exit code %d, err %v: %s", said.ExitCode, err, r.out)
	}
	out := examined{}
	for _, c := range said.Checks {
		if c.State != "ok" && c.Mend == "" {
			u.t.Errorf("%s does not say how to mend it", c.Name)
		}
		out[c.Name] = struct{ State, Found, Mend string }{c.State, c.Found, c.Mend}
	}
	return out
}
