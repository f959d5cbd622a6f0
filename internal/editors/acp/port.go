package acp

import (
	"context"
	"encoding/json"

	"adze/internal/stream/ask"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// Program is what the agent asks of adze. All may be called by several goroutines.
type Program interface {
	// Open starts a conversation, or goes on with a stored one.
	Open(ctx context.Context, w Wish) (Conversation, error)
	// Sessions lists what is stored, newest first.
	Sessions(ctx context.Context) ([]api.SessionHead, error)
	// Take has the process that has a stored one let go of it, unless it works there.
	Take(ctx context.Context, id string) error
	// Delete removes a stored one for ever.
	Delete(ctx context.Context, id string) error
	// Ready says why no model can be used; if nil, one can.
	Ready(ctx context.Context) error
	// Failure sorts an error as a run does.
	Failure(error) session.Result
	// Log tells who reads the log of the editor.
	Log(text string)
}

// Wish is what a conversation is to be.
type Wish struct {
	ID     string // of a stored one; if empty, a new one
	Fork   bool   // go on in a copy of it
	As     string // the id of a new one; if empty, any
	Cwd    string
	Model  string // if empty, as the configuration, or the stored one, says
	Mode   string
	Effort string
	// Observe sees every event, one at a time; Ask and Inquire put questions to the user.
	Observe func(session.Event)
	Ask     func(context.Context, ask.Permission) (ask.Answer, error)
	Inquire func(context.Context, ask.Question) (string, error)
	Named   func(title string) // is told the name that a model gave the conversation
	Clients Clients
	Editor  Editor // what the editor does for the conversation
	Servers []Server
}

// Clients is what other processes of the user do in the conversation. All may be called by any
// goroutine, and return soon.
type Clients interface {
	// Begin has a prompt wait for its turn.
	Begin(p Prompt) error
	// Stop ends the running turn; if false, none runs.
	Stop() bool
	// Changed is told when the mode or the effort is another one.
	Changed()
	// Leave lets the session go, which goes on elsewhere: to names where.
	Leave(to string)
}

// Server is an MCP server that the editor wants to be used. It is a wish: the user is asked
// first.
type Server struct {
	Name    string            `json:"name"`
	Type    string            `json:"type"` // stdio, http or sse
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// Conversation is one session of adze. Prompt is called for one prompt after the other; Mode,
// SetMode and Commands by any goroutine; the others while no prompt runs.
type Conversation interface {
	ID() string
	Cwd() string
	Begun() bool // something was said in it
	Title() string
	Prompt(ctx context.Context, p Prompt) session.Result
	// Replay is the conversation so far as the events that once told it.
	Replay() []session.Event
	Model() string
	// Models are those that are known at once, that of the conversation among them; AllModels also
	// asks servers, and may take seconds.
	Models() []api.ModelRow
	AllModels(ctx context.Context) []api.ModelRow
	Mode() string
	Modes() []api.Mode
	// SetMode puts a mode in force, and keeps it with the session.
	SetMode(name string) error
	Effort() string
	SetEffort(name string)
	Efforts() []api.Mode
	Commands() []api.Named
	// Notices are what the user should know of how it was opened.
	Notices() []string
	// Tool and Blocks are how a call is shown.
	Tool(name string) (tool.Definition, bool)
	Blocks(name string, metadata json.RawMessage) []tool.Block
	Close()
}

// Prompt is what a turn begins with.
type Prompt struct {
	Text        string
	Attachments []tool.Attachment
}
