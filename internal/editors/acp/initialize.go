package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"os"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/sourcegraph/jsonrpc2"
)

// Login methods.
const (
	loginMethod = "login"
	loginArg    = "login" // appended to the editor's command line for adze
)

// initialize does no other work: an editor shows nothing until it responds.
func (a *Agent) initialize(_ context.Context, p sdk.InitializeRequest) (initialized, func(), error) {
	a.mu.Lock()
	a.client = p.ClientCapabilities
	a.mu.Unlock()
	return initialized{sdk.InitializeResponse{
		ProtocolVersion: sdk.ProtocolVersionNumber,
		AgentInfo:       &sdk.Implementation{Name: "adze", Title: sdk.Ptr("adze"), Version: a.Version},
		AgentCapabilities: sdk.AgentCapabilities{
			LoadSession:        true,
			McpCapabilities:    sdk.McpCapabilities{Http: true, Sse: true},
			PromptCapabilities: sdk.PromptCapabilities{Image: true, EmbeddedContext: true},
			SessionCapabilities: sdk.SessionCapabilities{
				List: &sdk.SessionListCapabilities{}, Resume: &sdk.SessionResumeCapabilities{}, Close: &sdk.SessionCloseCapabilities{}, Fork: &sdk.SessionForkCapabilities{},
			},
		},
		AuthMethods: a.logins(p.ClientCapabilities),
	}}, nil, nil
}

// initialized is the response with fields newer than the SDK.
type initialized struct{ sdk.InitializeResponse }

// MarshalJSON adds the capability to delete sessions.
func (i initialized) MarshalJSON() ([]byte, error) {
	raw, err := json.Marshal(i.InitializeResponse)
	return bytes.Replace(raw, []byte(`"sessionCapabilities":{`), []byte(`"sessionCapabilities":{"delete":{},`), 1), err
}

// logins returns the login methods. adze asks for no key through an editor, which would log it.
func (a *Agent) logins(c sdk.ClientCapabilities) []sdk.AuthMethod {
	const name, words = "Choose a model", "Run adze in a terminal: it finds the models of this machine and takes the key of a provider. adze models login PROVIDER does the latter alone."
	if c.Auth.Terminal {
		return []sdk.AuthMethod{{Terminal: &sdk.AuthMethodTerminalInline{Id: loginMethod, Name: name, Description: sdk.Ptr(words), Type: "terminal", Args: []string{loginArg}}}}
	}
	program, err := os.Executable()
	if err != nil {
		program = "adze"
	}
	// Some editors read this field to run the command in their terminal.
	run := map[string]any{"terminal-auth": map[string]any{"label": name, "command": program, "args": []string{}}}
	return []sdk.AuthMethod{{Agent: &sdk.AuthMethodAgent{Id: loginMethod, Name: name, Description: sdk.Ptr(words), Meta: run}}}
}

func (a *Agent) authenticate(ctx context.Context, p sdk.AuthenticateRequest) (sdk.AuthenticateResponse, func(), error) {
	if p.MethodId != loginMethod {
		return sdk.AuthenticateResponse{}, nil, refuse(jsonrpc2.CodeInvalidParams, "there is no way to log in called "+p.MethodId+"; there is "+loginMethod)
	}
	if err := a.Program.Ready(ctx); err != nil {
		return sdk.AuthenticateResponse{}, nil, a.refusal(err)
	}
	return sdk.AuthenticateResponse{}, nil, nil
}
