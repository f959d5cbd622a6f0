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

	LanguageServer = "language-server" // a program that explains source code
	Formatter      = "formatter"       // a program that rewrites a file after a change
	SDK            = "sdk"             // code of the project that a language server of the user's runs
)

// kinds is the table. A new kind is one row, and one name in what the program says it uses.
func kinds() []kind {
	return []kind{
		{Tool, tools},
		{Hook, hooks},
		{Server, servers},
		{Command, commands},
		{LanguageServer, languageServers},
		{Formatter, formatters},
		{SDK, folder.sdks},
	}
}
