package trust

// kind is a row of the table of kinds.
type kind struct {
	name string
	// find lists what of this kind stands in a project's files; it reads, and nothing else. Of an
	// item it says what it is called (ID), where it stands (From, Raw) and what it would start.
	find func(folder) []Item
}

// Names of kinds.
const (
	Tool    = "tool"    // a declared tool
	Hook    = "hook"    // a program that an event starts
	Server  = "server"  // an MCP server
	Command = "command" // a prompt with parts that a shell runs

	Formatter = "formatter" // a program of the user's that rewrites a file after a change
	SDK       = "sdk"       // code of the project that a language server of the user's runs
)

// kinds is the table of what stands in a project. A new kind is one row.
func kinds() []kind {
	return []kind{
		{Tool, tools},
		{Hook, hooks},
		{Server, servers},
		{Command, commands},
		{SDK, folder.sdks},
	}
}
