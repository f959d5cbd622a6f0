package acp

import (
	"context"
	"encoding/json"

	"adze/internal/stream/ask"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// Program is adze's side of the agent. Its methods are safe for concurrent use.
type Program interface {
	// Open starts a conversation or continues a stored one.
	Open(ctx context.Context, w OpenRequest) (Conversation, error)
	// Sessions lists stored sessions, newest first.
	Sessions(ctx context.Context) ([]api.SessionHead, error)
	// Take makes another process release a stored session, unless it is working there.
	Take(ctx context.Context, id string) error
	// Delete removes a stored session for good.
	Delete(ctx context.Context, id string) error
	// Ready returns an error if no model is available.
	Ready(ctx context.Context) error
	// Failure converts an error as a run does.
	Failure(error) session.Result
	// Log writes to the editor's log.
	Log(text string)
}

// A Wish describes the conversation to open.
type OpenRequest struct {
	ID     string // a stored one's; "" for a new one
	Fork   bool   // continue in a copy
	NewID  string // a new one's id; "" for any
	Cwd    string
	Model  string // "" for the configured or stored one
	Mode   string
	Effort string
	// Observe receives every event, one at a time; Ask and Inquire ask the user.
	Observe func(session.Event)
	Ask     func(context.Context, ask.Permission) (ask.Answer, error)
	Inquire func(context.Context, ask.Question) (string, error)
	Named   func(title string) // gets the title that a model gave the conversation
	Clients Clients
	Editor  Editor
	Servers []Server
}

// Clients handles other processes' actions in the conversation. Its methods are safe for concurrent
// use and return soon.
type Clients interface {
	// Begin queues a prompt.
	Begin(p Prompt) error
	// Stop cancels the running turn, or returns false.
	Stop() bool
	// Changed is called when the mode or the effort changed.
	Changed()
	// Leave hands the session over to another process, named by to.
	Leave(to string)
}

// A Server is an MCP server that the editor wants to use. The user is asked first.
type Server struct {
	Name    string            `json:"name"`
	Type    string            `json:"type"` // stdio, http or sse
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// A Conversation is one session. Prompt is called for one prompt at a time; Mode, SetMode and
// Commands are safe for concurrent use; the others are called while no prompt runs.
type Conversation interface {
	ID() string
	Cwd() string
	HasMessages() bool // has messages
	Title() string
	Prompt(ctx context.Context, p Prompt) session.Result
	// Replay returns the conversation's events so far.
	Replay() []session.Event
	Model() string
	// Models returns the models known at once, including the current one; AllModels also asks
	// servers, which may take seconds.
	Models() []api.ModelRow
	AllModels(ctx context.Context) []api.ModelRow
	Mode() string
	Modes() []api.Mode
	// SetMode sets a mode and stores it with the session.
	SetMode(name string) error
	Effort() string
	SetEffort(name string)
	Efforts() []api.Mode
	Commands() []api.Named
	// Notices returns messages for the user about the opening.
	Notices() []string
	// Tool and Blocks describe a call for display.
	Tool(name string) (tool.Definition, bool)
	Blocks(name string, metadata json.RawMessage) []tool.Block
	Close()
}

// A Prompt is a turn's input.
type Prompt struct {
	Text        string
	Attachments []tool.Attachment
}
