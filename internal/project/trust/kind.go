package trust

type kind struct {
	name string
	// find lists the items of this kind in a project's files, with ID, Source, Raw and their command.
	// It only reads.
	find func(folder) []Item
}

// Names of kinds.
const (
	Tool    = "tool"    // declared tool
	Hook    = "hook"    // program that an event starts
	Server  = "server"  // MCP server
	Command = "command" // prompt with shell parts

	Formatter = "formatter" // user's program that rewrites a changed file
	SDK       = "sdk"       // project code that a user's language server runs
)

// kinds returns the table of kinds. A new kind is one row.
func kinds() []kind {
	return []kind{
		{Tool, tools},
		{Hook, hooks},
		{Server, servers},
		{Command, commands},
		{SDK, folder.sdks},
	}
}
