package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Rules are added, listed, obeyed, told and removed from the command line; what stands beside them
// in the file stays.
func TestRulesFromTheCommandLine(t *testing.T) {
	u := newUser(t)
	file := filepath.Join(u.home, "config.json")
	if err := os.WriteFile(file, []byte("{\n\t// quick ones\n\t\"allow\": [\"execute(go vet **)\"]\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.run("permission", "add", "deny", "write(work:vendor/**)").wants(0, "added: deny write(work:vendor/**)")
	u.run("permission", "add", "ask execute( git push ** )").wants(0, "added: ask execute(git push **)")
	u.run("permission", "add", "allow", "execute(go vet **)").wants(0, "there already")
	list := u.run("permission", "list", "--allow", "network(go.dev)").wants(0, "mode ask",
		"allow network(go.dev)  (command line)", "deny  write(work:vendor/**)  (user)", "ask   execute(git push **)  (user)").out
	if raw, _ := os.ReadFile(file); !strings.Contains(string(raw), "// quick ones") {
		t.Errorf("the comment is gone: %s", raw)
	}
	if lines := strings.Count(u.run("permission", "list", "--json").wants(0, `{"effect":"ask","rule":"execute(git push **)","layer":"user"}`).out, "\n"); lines < 3 {
		t.Errorf("%d lines of JSON; the list is\n%s", lines, list)
	}
	why := []string{"permission", "why", "write", "--args", `{"path": "vendor/x.go", "content": "x"}`, "--permission-mode", "yolo"}
	u.run(why...).wants(7, "deny: write in mode yolo", "write vendor/x.go", "deny: deny write(work:vendor/**) (user)", "forbidden by the rule")
	u.run(append(why, "--json")...).wants(7, `"effect":"deny"`, `"layer":"user"`)
	if _, err := os.Stat(filepath.Join(u.dir, "vendor")); err == nil {
		t.Error("a judged call was run")
	}
	u.run("permission", "why", "bash", "--args", `{"command": "git push"}`, "--allow", "execute(git **)").wants(7, "ask: ask execute(git push **) (user)")
	u.run("permission", "why", "read", "--args", `{"path": "go.mod"}`).wants(0, "allow: read in mode ask")
	u.run("permission", "remove", "deny", "write(work:vendor/**)").wants(0, "removed: deny write(work:vendor/**)")
	u.run(why...).wants(0)
	for args, says := range map[string]string{
		"remove deny execute(go vet **)":          "adze permission remove allow 'execute(go vet **)'",
		"remove allow execute(go vett **)":        "did you mean 'execute(go vet **)'?",
		"add permit execute(make)":                "none of allow, ask and deny",
		"add allow":                               "the rule is missing",
		"add allow bash(make)":                    "did you mean execute(make)?",
		`why reed --args {"path":"x"}`:            "did you mean read?",
		`why read --args {"paht":5}`:              "adze tools schema read",
		"why call_9":                              "no session of",
		"add deny execute(make) --session nobody": "--session",
	} {
		words := strings.SplitN(args, " ", 3)
		if words[1] == "permit" || words[0] == "remove" || words[0] == "add" && len(words) == 3 && !strings.Contains(args, "--") {
			u.run(append([]string{"permission"}, words...)...).wants(2, says)
			continue
		}
		u.run(append([]string{"permission"}, strings.Fields(args)...)...).wants(2, says)
	}
}

// The log tells afterwards why a call was refused.
func TestWhyACallOfTheLogWasRefused(t *testing.T) {
	u := newUser(t)
	u.run("-p", "--deny", "execute(touch **)", u.script("-- 1 --\ncall bash: {\"command\": \"touch x\"}\n-- 2 --\ntext: no\n"), "try").wants(7)
	id := u.run("audit", "show", "--json").out
	_, after, found := strings.Cut(id, `"call":"`)
	call, _, _ := strings.Cut(after, `"`)
	if !found {
		t.Fatalf("no call in %s", id)
	}
	u.run("permission", "why", call).wants(7, "bash denied", "deny execute(touch **)")
	u.run("permission", "why", call, "--json").wants(7, `"status":"denied"`)
}
