package run_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestACommandChangesNoSettings tries from below a call, without the sandbox and in yolo, what only
// the user may do. BARE stands for adze with nothing in its environment but its place.
func TestACommandChangesNoSettings(t *testing.T) {
	u := newUser(t)
	u.configure(`{"deny": ["execute(rm **)"]}`)
	u.file(".adze/tools/a.json", `{"name": "a", "description": "A.", "parameters": {"type": "object", "properties": {}}, "command": ["true"]}`)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	adze := filepath.Join(t.TempDir(), "adze") // adze is known by this name to what it adopts
	if err := os.Symlink(self, adze); err != nil {
		t.Fatal(err)
	}
	bare := fmt.Sprintf("env -i PATH=/usr/bin:/bin %s=1 ADZE_HOME=%s %s", asMain, u.home, adze)
	model := u.script("-- 1 --\ncall bash: {\"command\": \"sh s.sh\"}\n-- 2 --\ntext: done\n")
	refuses := "is the user's alone"
	shapes := map[string][2]string{ // a script, and what it says
		"as it is":            {"exec BARE", refuses},
		"with its mark":       {asMain + "=1 ADZE_HOME=" + u.home + " " + adze + " WORDS", refuses},
		"a session":           {"setsid -w BARE", refuses},
		"an orphan":           {"(setsid sh -c 'BARE; touch over' &); while ! [ -e over ]; do :; done", refuses},
		"a process namespace": {"unshare -Urpf --mount-proc BARE", refuses},
		"a terminal":          {"script -qec 'BARE' /dev/null", refuses},
		"without supervisor":  {"(trap '' HUP TERM; setsid sh -c 'while [ -e /proc/'$PPID' ]; do :; done; BARE' > /dev/null 2>&1 &); kill -9 $PPID; sleep 100", ""},
	}
	for _, words := range []string{"permission add allow execute", "permission remove deny 'execute(rm **)'", "trust allow a", "mcp add x -- sh", "login openai", "session delete x"} {
		for name, shape := range shapes {
			if words != "permission add allow execute" && name != "as it is" && name != "a session" {
				continue
			}
			words := strings.ReplaceAll(words, "'", `"`)
			text := strings.NewReplacer("BARE", bare+" "+words, "WORDS", words).Replace(shape[0])
			if fields := strings.Fields(shape[0]); fields[0] == "unshare" || fields[0] == "script" {
				if exec.Command(fields[0], "--version").Run() != nil || fields[0] == "unshare" && exec.Command("unshare", "-Urpf", "true").Run() != nil {
					t.Logf("%s is not to be had here", fields[0])
					continue
				}
			}
			said := u.file("said", "")
			u.file("s.sh", "exec > said 2>&1\n"+text+"\n")
			cmd := u.command("-p", "--permission-mode", "yolo", "--sandbox", "off", model, "hi")
			cmd.Path = adze
			out, err := cmd.CombinedOutput()
			if got, _ := os.ReadFile(said); err != nil || !strings.Contains(string(got), shape[1]) {
				t.Errorf("%s, %s: %v: %s\n%s", name, words, err, out, got)
			}
			now, err := os.ReadFile(filepath.Join(u.home, "config.json"))
			if err != nil || string(now) != `{"deny": ["execute(rm **)"]}` {
				t.Fatalf("%s, %s: the configuration is %s (%v)\n%s", name, words, now, err, out)
			}
		}
	}
	u.run("trust", "list").wants(0, "waiting")
	u.run("permission", "add", "allow", "execute(make)").wants(0, "added")
	u.run("trust", "allow", "a").wants(0)
}

// TestARequiredSandboxIsNotSwitchedOff by the same command line, whatever comes first, or by one
// over the configuration.
func TestARequiredSandboxIsNotSwitchedOff(t *testing.T) {
	u := newUser(t)
	model := u.script("-- 1 --\ntext: done\n")
	for _, words := range []string{"required off", "off required", "required auto"} {
		first, then, _ := strings.Cut(words, " ")
		u.run("-p", model, "--sandbox", first, "--sandbox="+then, "hi").wants(2, "what is required cannot be taken back")
		u.run("permission", "list", "--sandbox", first, "--sandbox="+then).wants(2, "what is required cannot be taken back")
	}
	u.run("-p", model, "--sandbox", "off", "--sandbox", "off", "hi").wants(0, "done")
	u.configure(`{"sandbox": "required"}`)
	u.run("-p", model, "--sandbox", "off", "hi").wants(2, "--sandbox: the sandbox is set to off, but", "config.json requires it", "hint: leave it out")
	u.configure(`{"sandbox": "off"}`)
	u.run("-p", model, "hi").wants(0, "done")
}

// TestAChangedSettingIsToldAndNotUsed has a command outside of the sandbox write files of adze
// itself, which nothing can prevent.
func TestAChangedSettingIsToldAndNotUsed(t *testing.T) {
	for name, script := range map[string]string{
		"config.json":      `echo '{"allow": ["execute"]}' > "$1/config.json"`,
		"hooks.json":       `echo '{"hooks": {}}' > "$1/hooks.json"`,
		"state/trust.json": `cp -p "$1/state/trust.json" "$1/t"; sed s/allow/ALLOW/ "$1/t" > "$1/state/trust.json"; touch -r "$1/t" "$1/state/trust.json"`,
	} {
		u := newUser(t)
		u.file(".adze/tools/lint.json", `{"name": "lint", "description": "Lint.", "parameters": {"type": "object", "properties": {}}, "command": ["touch", "ran"]}`)
		u.run("trust", "allow", "lint").wants(0)
		u.file("s.sh", "set -- "+u.home+"\n"+script+"\n")
		model := u.script("-- 1 --\ncall bash: {\"command\": \"true\"}\n-- 2 --\ncall bash: {\"command\": \"sh s.sh\"}\n-- 3 --\ncall lint: {}\n-- 4 --\ntext: done\n")
		r := u.run("-p", "--permission-mode", "yolo", "--sandbox", "off", model, "hi").wants(0, "WARNING", name+" changed while a command ran")
		if _, err := os.Stat(filepath.Join(u.dir, "ran")); err == nil {
			t.Errorf("%s: a consent was used after it\n%s", name, r.err)
		}
		if strings.Count(r.err, "WARNING") != 1 {
			t.Errorf("%s: it is told more than once\n%s", name, r.err)
		}
	}
}
