// Package dial connects to MCP servers with an address: streamable HTTP or the older HTTP+SSE, with
// the server's own headers and login.
//
// The one rule: it connects only to the address that the user configured. If a server requires a
// login, the connection ends with the command to run.
//
// Start reading at Opener; login.go adds logins to the transport of 2024-11-05 (HTTP+SSE), used if
// configured.
//
// Known limits: the transport of a server is not detected.
package dial

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp"
	"adze/internal/mcp/oauth"
	"adze/internal/mcp/remote"
)

// Opener returns an Opener with a manager's logins.
func Opener(m oauth.Manager) mcp.Opener {
	return func(ctx context.Context, s mcp.Server, use func(sdk.Transport)) error {
		server, err := Server(s)
		if err != nil {
			return final{err}
		}
		handler := m.Handler(server)
		client := remote.Client(server.URL, server.Headers)
		defer client.CloseIdleConnections()
		client.Transport = handler.Watch(client.Transport)
		if s.SSE {
			client.Transport = login{handler, client.Transport}
			use(&sdk.SSEClientTransport{Endpoint: server.URL.String(), HTTPClient: client, MaxEventSize: -1})
		} else {
			use(&sdk.StreamableClientTransport{Endpoint: server.URL.String(), HTTPClient: client, MaxEventSize: -1, OAuthHandler: handler})
		}
		if err := handler.Required(); err != nil {
			return final{fmt.Errorf("%w: run %s", err, err.Next())}
		}
		return nil
	}
}

// final is an error that a second attempt cannot fix.
type final struct{ error }

func (f final) Unwrap() []error { return []error{f.error, mcp.ErrFinal} }

// Server returns a server's address and headers.
func Server(s mcp.Server) (oauth.Server, error) {
	u, err := url.Parse(s.URL)
	switch {
	case err != nil:
		return oauth.Server{}, errors.New("its address cannot be read")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return oauth.Server{}, errors.New("its address does not begin with https:// or http://")
	case u.User != nil:
		return oauth.Server{}, errors.New("its address holds a password; put it into a header")
	}
	u.Fragment, u.RawFragment = "", ""
	headers := http.Header{}
	for name, value := range s.Headers {
		headers.Set(name, value)
	}
	config, err := oauth.Read(s.OAuth)
	if err != nil {
		return oauth.Server{}, err
	}
	return oauth.Server{Name: s.Name, URL: u, Headers: headers, Config: config}, nil
}
