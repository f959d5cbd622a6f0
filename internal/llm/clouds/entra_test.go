package clouds_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"adze/internal/llm/clouds"
)

// The tokens of a service principal, from a server that speaks as Entra does.
func TestEntraSignsIn(t *testing.T) {
	issued, scope := 0, ""
	var s *httptest.Server
	s = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "openid-configuration") {
			_ = json.NewEncoder(w).Encode(map[string]string{"issuer": s.URL + "/t/v2.0", "authorization_endpoint": s.URL + "/t/authorize", "token_endpoint": s.URL + "/t/token"})
			return
		}
		if r.FormValue("client_secret") != "the-secret" {
			w.WriteHeader(http.StatusUnauthorized)
			_ = json.NewEncoder(w).Encode(map[string]string{"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret provided."})
			return
		}
		issued++
		scope = r.FormValue("scope")
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "entra-token", "token_type": "Bearer", "expires_in": 3600})
	}))
	defer s.Close()
	for name, value := range map[string]string{"AZURE_AUTHORITY_HOST": s.URL, "AZURE_TENANT_ID": "t", "AZURE_CLIENT_ID": "c", "AZURE_CLIENT_SECRET": "the-secret", "AZURE_TOKEN_CREDENTIALS": "EnvironmentCredential"} {
		t.Setenv(name, value)
	}
	m := newMachine(t, "", "")
	env := m.env()
	env.HTTP = s.Client()
	tokens := clouds.Entra(env)
	for range 2 {
		if got, err := tokens.Get(context.Background()); err != nil || got != "entra-token" {
			t.Fatalf("%q, %v", got, err)
		}
	}
	if issued != 1 || !strings.Contains(scope, "https://cognitiveservices.azure.com/.default") || len(m.hid) != 1 {
		t.Errorf("%d tokens, scope %q, %d hidden", issued, scope, len(m.hid))
	}
	t.Setenv("AZURE_CLIENT_SECRET", "another")
	if _, err := clouds.Entra(env).Get(context.Background()); err == nil || err.Error() != "cannot sign in to Azure: AADSTS7000215: Invalid client secret provided" {
		t.Errorf("a wrong secret: %v", err)
	}
}
