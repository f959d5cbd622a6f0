package delicate

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The installed ones of these programs run what a file of the list says, although they are asked
// for something else. The files lie in a folder that is the home too.
func TestRealProgramsRunSomethingByTheirNames(t *testing.T) {
	const run = "touch ran"
	for name, c := range map[string]struct{ program, file, content, before, command string }{
		"attributes of git":            {"git", ".gitattributes", "* filter=x\n", "git init -q .; git config filter.x.clean '" + run + "; cat'; echo a > a", "git add a"},
		"configuration of git":         {"git", ".git/config", "[core]\n\tfsmonitor = " + run + "\n", "git init -q .", "git status"},
		"configuration of the user":    {"git", ".gitconfig", "[alias]\n\tstatuz = !" + run + "\n", "git init -q .", "git statuz"},
		"hooks of git":                 {"git", ".git/hooks/post-index-change", "#!/bin/sh\n" + run + "\n", "git init -q .; echo a > a", "chmod +x .git/hooks/post-index-change; git add a"},
		"hg":                           {"hg", ".hg/hgrc", "[alias]\nstatus = !" + run + "\n", "hg init .", "hg status"},
		"hg, not shared":               {"hg", ".hg/hgrc-not-shared", "[hooks]\npre-status = " + run + "\n", "hg init .", "hg status"},
		"hg, the repository elsewhere": {"hg", ".hg/sharedpath", "../other/.hg", "hg init .; hg init other; printf '[hooks]\\npre-status = " + run + "\\n' > other/.hg/hgrc; echo shared >> .hg/requires; mkdir .hg/x; mv other .hg/x/", "printf '%s' \"$PWD/.hg/x/other/.hg\" > .hg/sharedpath; hg status"},
		"npm":                          {"npm", ".npmrc", "script-shell=./shell\n", `echo '{"scripts":{"a":"true"}}' > package.json; printf '#!/bin/sh\n` + run + `\n' > shell; chmod +x shell`, "npm run a"},
		"direnv":                       {"direnv", ".envrc", run + "\n", "true", "direnv allow .; direnv exec . true"},
		"bash":                         {"bash", ".bashrc", run + "\n", "true", "bash -i -c true"},
		"bash at login":                {"bash", ".bash_profile", run + "\n", "true", "bash -l -c true"},
		"sh at login":                  {"dash", ".profile", run + "\n", "true", "dash -l -c true"},
		"zsh":                          {"zsh", ".zshenv", run + "\n", "true", "zsh -c true"},
		"fish":                         {"fish", ".config/fish/config.fish", run + "\n", "true", "fish -c true"},
		"Vim in a folder":              {"vim", ".exrc", "silent !" + run + "\n", "true", "mkdir sub; mv .exrc sub; cd sub; VIMINIT='set exrc' vim --not-a-term -N -i NONE -c q"},
		"gdb":                          {"gdb", ".gdbinit", "shell " + run + "\n", "true", "gdb -batch -iex 'set auto-load safe-path /'"},
		"pdb":                          {"python3", ".pdbrc", "import os; os.system('" + run + "')\n", "echo 1 > a.py", "python3 -m pdb -c q a.py"},
		"perl -d":                      {"perl", ".perldb", "system('" + run + "');\n", "true", "echo q | perl -d -e 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.program); err != nil {
				t.Skipf("%s is not installed", c.program)
			}
			if _, found := In(c.file, File); !found {
				if _, found = InHome(c.file, File); !found {
					t.Fatalf("%s is not on the list", c.file)
				}
			}
			dir := t.TempDir()
			shell := func(script string) string {
				cmd := exec.Command("sh", "-c", script)
				cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TERM=dumb", "GIT_CONFIG_NOSYSTEM=1", "npm_config_update_notifier=false"}
				out, _ := cmd.CombinedOutput() // the file is looked for; how they end does not count
				return string(out)
			}
			said := shell(c.before)
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(c.file)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.content), 0o644); err != nil {
				t.Fatal(err)
			}
			said += shell(c.command)
			if found := strings.TrimSpace(shell("find . -name ran")); found == "" {
				t.Errorf("%s ran nothing by %s: %s", c.program, c.file, said)
			}
		})
	}
}
