package proc

// ShellProgram is what runs command lines. The zero value is the bash that PATH finds.
type ShellProgram struct {
	Name string // as a model and a user know it; if empty, bash, judged part by part
	Kind ShellKind
	Path string
	Dirs []string // in which its own programs are, to be searched first
}

// ShellKind says which language a shell has.
type ShellKind string

// The kinds.
const (
	Bash       ShellKind = ""
	PowerShell ShellKind = "powershell"
	Cmd        ShellKind = "cmd"
)
