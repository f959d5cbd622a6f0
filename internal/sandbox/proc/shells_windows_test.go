package proc_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"adze/internal/sandbox/proc"
)

// plant puts this program where a shell would be installed.
func plant(t *testing.T, path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(to, from)
	if closed := to.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
}

// TestTheShellOnWindows plants shells where their installers put them: the best one is taken, and
// when it goes away the next one.
func TestTheShellOnWindows(t *testing.T) {
	top := t.TempDir()
	in := func(parts ...string) string { return filepath.Join(append([]string{top}, parts...)...) }
	env := []string{"SYSTEMROOT=" + in("Windows"), "ProgramFiles=" + in("Program Files"), "LOCALAPPDATA=" + in("Local"),
		"PATH=" + in("scoop", "git", "cmd") + ";" + in("Windows", "System32"), "PATHEXT=.COM;.EXE"}
	none := func(string) string { return "" }
	order := []struct{ path, name string }{
		{in("scoop", "git", "bin", "bash.exe"), "Git's bash on Windows"}, // beside the git that PATH finds
		{in("Program Files", "Git", "bin", "bash.exe"), "Git's bash on Windows"},
		{in("Local", "Programs", "Git", "bin", "bash.exe"), "Git's bash on Windows"},
		{in("Program Files", "PowerShell", "7", "pwsh.exe"), "PowerShell 7"},
		{in("Windows", "System32", "WindowsPowerShell", "v1.0", "powershell.exe"), "Windows PowerShell 5.1"},
	}
	plant(t, in("scoop", "git", "cmd", "git.exe"))
	plant(t, in("Windows", "System32", "bash.exe")) // that of WSL
	plant(t, in("Windows", "System32", "cmd.exe"))
	for _, o := range order {
		plant(t, o.path)
	}
	for _, o := range order {
		if got := proc.FindShell(none, env); !strings.EqualFold(got.Path, o.path) || got.Name != o.name {
			t.Errorf("the shell is %s %s, want %s", got.Name, got.Path, o.path)
		}
		if err := os.Remove(o.path); err != nil {
			t.Fatal(err)
		}
	}
	if got := proc.FindShell(none, env); got.Kind != proc.Cmd {
		t.Errorf("without any other the shell is %+v", got)
	}
	own := in("elsewhere", "PWSH.EXE")
	got := proc.FindShell(func(name string) string { return map[string]string{"ADZE_SHELL": own}[name] }, env)
	if got.Kind != proc.PowerShell || got.Path != own {
		t.Errorf("ADZE_SHELL is %+v", got)
	}
	bash := proc.FindShell(func(string) string { return order[1].path }, env)
	if want := in("Program Files", "Git", "usr", "bin"); len(bash.Dirs) == 0 || bash.Dirs[0] != want {
		t.Errorf("the programs of Git's bash are in %v, want %s", bash.Dirs, want)
	}
}

// TestALineReachesTheShellOnWindows starts stand-ins for bash and PowerShell: the line that they get
// is the line of the call, whatever is in it, and their exit code is that of the call.
func TestALineReachesTheShellOnWindows(t *testing.T) {
	dir := t.TempDir()
	for _, program := range []string{"bash.exe", "pwsh.exe", "powershell.exe"} {
		path := filepath.Join(dir, "bin", program)
		plant(t, path)
		shell := proc.FindShell(func(string) string { return path }, nil)
		for _, line := range []string{
			"echo x", `echo "a b" 'c d' \"e\"`, `dir C:\temp\`, `echo \\server\share\ "ends in a backslash\"`, "one\ntwo\r\nthree",
			"%PATH% ^& | < > ( ) ! $x `y`", "ünï – 雪 😀", `""`, " lead and trail ", strings.Repeat("long ", 1000),
		} {
			r, err := proc.Supervisor{}.Run(context.Background(), proc.Command{Argv: shell.Argv(line), Dir: dir, Env: append(os.Environ(), wordsTo+"=1"),
				Head: 64 << 10, Tail: 64 << 10})
			if err != nil || r.Code != 9 {
				t.Fatalf("%s: %v, code %d, %q", program, err, r.Code, r.Output.Head)
			}
			var words []string
			if err := json.Unmarshal([]byte(r.Output.Head+r.Output.Tail), &words); err != nil {
				t.Fatalf("%s: %q: %v", program, r.Output.Head, err)
			}
			got, last := words[:len(words)-1], words[len(words)-1]
			if shell.Kind == proc.PowerShell {
				last = decoded(t, last)
				before, rest, _ := strings.Cut(last, "\n")
				if !strings.Contains(before, "UTF8") || !strings.HasPrefix(rest, line+"\n") || !strings.Contains(rest[len(line):], "exit $LASTEXITCODE") {
					t.Errorf("%s runs %q, want %q", program, last, line)
				}
				if !strings.Contains(strings.Join(got, " "), "-NoProfile -NonInteractive") {
					t.Errorf("%s is started with %q", program, got)
				}
				continue
			}
			if strings.Join(got, " ") != "--noprofile --norc -c" || last != line {
				t.Errorf("%s runs %q %q, want %q", program, got, last, line)
			}
		}
	}
}

// decoded is what PowerShell makes of -EncodedCommand.
func decoded(t *testing.T, text string) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	var units []uint16
	for ; len(raw) > 1; raw = raw[2:] {
		units = append(units, binary.LittleEndian.Uint16(raw))
	}
	return string(utf16.Decode(units))
}
