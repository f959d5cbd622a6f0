//go:build unix

package proc

// FindShell returns this system's shell.
func FindShell(func(string) string, []string) ShellProgram { return ShellProgram{} }
