package flags

import (
	"adze/internal/editors/acp"
	"adze/internal/files/workspace"
	"adze/internal/run/outputschema"
	"adze/session"
)

// Request is one run that somebody asks for: its flags, and more that no flag can say.
type Request struct {
	Run
	Files  workspace.FS         // the way to files; if nil, the disk
	Lent   []acp.Server         // MCP servers that an editor names
	Asked  string               // the first prompt, where it is known before the run is built
	Answer *outputschema.Schema // read from schema; if nil, any answer will do
	Serves bool                 // a program of others makes the calls, not a model
	ByHand session.Provider     // makes the one call of adze tools run, in place of a model
}

// Written reports a run whose model only says what was written before: its subagents are in the
// same text.
func (o *Request) Written() bool { return o.Demo || o.Replay != "" || o.ByHand != nil }
