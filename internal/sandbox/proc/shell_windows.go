package proc

import (
	"os"
	"path/filepath"
	"strings"
)

// FindShell returns the shell for command lines: the one named by ADZE_SHELL, else the bash of Git
// for Windows, else PowerShell 7, else Windows PowerShell. It ignores the bash in System32, which
// starts another system.
func FindShell(getenv func(string) string, env []string) ShellProgram {
	if own := getenv("ADZE_SHELL"); own != "" {
		return shellAt(own)
	}
	folders := []string{lookup(env, "ProgramFiles"), lookup(env, "ProgramW6432"), filepath.Join(lookup(env, "LOCALAPPDATA"), "Programs")}
	var bashes, shells []string
	if git, err := LookPath("git.exe", "", env); err == nil {
		bashes = append(bashes, filepath.Join(filepath.Dir(filepath.Dir(git)), "bin", "bash.exe"))
	}
	for _, dir := range folders {
		if filepath.IsAbs(dir) {
			bashes = append(bashes, filepath.Join(dir, "Git", "bin", "bash.exe"))
			shells = append(shells, filepath.Join(dir, "PowerShell", "7", "pwsh.exe"))
		}
	}
	if pwsh, err := LookPath("pwsh.exe", "", env); err == nil {
		shells = append([]string{pwsh}, shells...)
	}
	system := filepath.Join(lookup(env, "SYSTEMROOT"), "System32")
	shells = append(shells, filepath.Join(system, "WindowsPowerShell", "v1.0", "powershell.exe"))
	for _, path := range append(bashes, shells...) {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return shellAt(path)
		}
	}
	return shellAt(filepath.Join(system, "cmd.exe"))
}

// shellAt identifies a shell by its program's name.
func shellAt(path string) ShellProgram {
	switch name := strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".exe"); name {
	case "pwsh":
		return ShellProgram{Name: "PowerShell 7", Kind: PowerShell, Path: path}
	case "powershell":
		return ShellProgram{Name: "Windows PowerShell 5.1", Kind: PowerShell, Path: path}
	case "cmd":
		return ShellProgram{Name: "cmd", Kind: Cmd, Path: path}
	}
	top := filepath.Dir(filepath.Dir(path))
	return ShellProgram{Name: "Git's bash on Windows", Path: path, Dirs: []string{filepath.Join(top, "usr", "bin"), filepath.Join(top, "mingw64", "bin")}}
}
