package proc

// ShellProgram runs command lines. The zero value is bash from PATH.
type ShellProgram struct {
	Name string // for model and user; "" means bash, whose command lines are judged part by part
	Kind ShellKind
	Path string
	Dirs []string // folders with its own programs, searched first
}

// ShellKind is a shell's language.
type ShellKind string

const (
	Bash       ShellKind = ""
	PowerShell ShellKind = "powershell"
	Cmd        ShellKind = "cmd"
)
