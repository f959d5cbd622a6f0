package clouds

import (
	"context"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"adze/internal/llm/wire"
)

// VertexHost returns the address of Vertex in a region. A region of several has a host of its own
// kind, and the global one has no prefix.
func VertexHost(region string) string {
	switch region {
	case "global":
		return "https://aiplatform.googleapis.com"
	case "us", "eu":
		return "https://aiplatform." + region + ".rep.googleapis.com"
	}
	return "https://" + region + "-aiplatform.googleapis.com"
}

// Google returns the tokens of the application default credentials.
func Google(env Env) *Tokens {
	const scope = "https://www.googleapis.com/auth/cloud-platform"
	return NewTokens(env, "cannot sign in to Google Cloud", func(ctx context.Context) (Token, error) {
		if env.HTTP != nil {
			ctx = context.WithValue(ctx, oauth2.HTTPClient, env.HTTP)
		}
		found, err := google.FindDefaultCredentialsWithParams(ctx, google.CredentialsParams{Scopes: []string{scope}, EarlyTokenRefresh: early + time.Minute})
		if err != nil {
			return Token{}, hinted{err, "gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS to a file of credentials"}
		}
		token, err := within(ctx, found.TokenSource.Token)
		if err != nil {
			return Token{}, hinted{err, "gcloud auth application-default login signs in again"}
		}
		return Token{token.AccessToken, token.Expiry}, nil
	})
}

// within returns the result of a call that knows no context, or ctx's error.
func within[T any](ctx context.Context, call func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := call()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// Vertex returns the door to models of a publisher ("google" or "anthropic") in a project and a
// region.
func Vertex(t *Tokens, project, region, publisher string) wire.Door {
	d := t.Bearer("Authorization", "Bearer ")
	method := ":streamGenerateContent?alt=sse"
	if publisher == "anthropic" {
		method, d.Version = ":streamRawPredict", "vertex-2023-10-16"
	}
	folder := VertexFolder(project, region) + "/publishers/" + publisher + "/models/"
	d.Path = func(model, _ string) string { return folder + url.PathEscape(model) + method }
	return d
}

// VertexFolder returns the path of a project's region.
func VertexFolder(project, region string) string {
	return "/v1/projects/" + url.PathEscape(project) + "/locations/" + url.PathEscape(region)
}

// IsClaude reports whether a model's name, profile or ARN is one of Anthropic's.
func IsClaude(model string) bool {
	return strings.Contains(model, "claude") || strings.Contains(model, "anthropic.")
}
